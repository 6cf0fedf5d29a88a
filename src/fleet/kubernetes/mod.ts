/**
 * Instances that are pods: a list and then a watch of the pods that a label selector matches, told to the fleet as they become
 * ready, unready and gone. A pod needs no agent beside it: its ports and its `warmpath.io/` annotations describe the engine.
 */

export { KubernetesSource, type KubernetesSourceOptions } from "./kubernetes-source.ts";
