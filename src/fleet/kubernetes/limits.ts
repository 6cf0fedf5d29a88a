/** The limits of listing and watching pods. */

import type { BackoffLimits } from "#base";

export interface KubernetesLimits {
  /** Between two requests; the first delay also follows a watch that ended as it should. */
  backoff: BackoffLimits;
  /** For the credentials, for a page of a list, and for the head of a watch's answer. */
  requestTimeoutMs: number;
  /** After this long the API server ends a watch by itself. */
  watchSeconds: number;
  /** A watch that says nothing for this long is opened again: its connection may be gone without a sign. */
  silenceMs: number;
  /** Pods on one page of a list. */
  pagePods: number;
  /** Pods in all; a selector that matches more is a slip. */
  podsMax: number;
}

export const KUBERNETES_LIMITS: KubernetesLimits = {
  backoff: { firstMs: 500, maxMs: 30_000 },
  requestTimeoutMs: 30_000,
  // API servers end watches after 30 to 60 minutes when they are not told; credentials are read anew for each.
  watchSeconds: 290,
  // Twice the minute after which an API server sends a bookmark.
  silenceMs: 120_000,
  pagePods: 200,
  // Four times as many as the fleet takes.
  podsMax: 16_384,
};

/** A pod is at most 1.5 MiB in etcd, in a denser form than JSON. */
export const LINE_BYTES_MAX = 4 * 1024 * 1024;

/** A page of pods, of which a usual one takes 5 to 20 KiB. */
export const PAGE_BYTES_MAX = 64 * 1024 * 1024;
