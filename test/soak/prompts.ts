/** The prompts that engines compute and clients ask for: the same few for both, so that much of them is held. */

import { chatTraffic } from "#sim";

const PROMPTS = 256;

/** Shared beginnings, short enough that some hundred prompts a second are no burden to whoever plays the engines. */
const SITE = {
  systemPrompts: 3,
  systemPromptTokens: 256,
  conversations: 16,
  turnTokensMin: 16,
  turnTokensMax: 256,
  promptTokensMax: 2048,
};

export function soakPrompts(seed: number): Uint32Array[] {
  return [...chatTraffic({ ...SITE, seed }).take(PROMPTS)];
}
