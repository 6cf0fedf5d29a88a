/**
 * Prompts as chat clients send them: a few system prompts, many conversations on each, every prompt the conversation so far
 * plus one turn. Prefixes are shared widely at the front and narrowly behind, which is what a prefix cache lives from.
 */

import { assert } from "#base";
import { SeededRandom } from "./random.ts";

/** Token ids are below this, as in the vocabularies of current models; ids above 65,535 take the long form on the wire. */
export const VOCABULARY_SIZE = 150_000;

export interface ChatTrafficOptions {
  seed: number;
  /** How many system prompts there are, at least 1, and how many tokens each has. */
  systemPrompts: number;
  systemPromptTokens: number;
  /** Conversations open at a time, at least 1; one that has ended makes room for a new one. */
  conversations: number;
  /** Tokens that one turn adds, question and answer, at least 1. */
  turnTokensMin: number;
  turnTokensMax: number;
  /** A conversation ends before it outgrows this; room for a system prompt and a turn at least. */
  promptTokensMax: number;
}

/** A small site: conversations of about 18 turns, prompts of 1,152 to 8,192 tokens. */
export const SMALL_SITE: ChatTrafficOptions = {
  seed: 1,
  systemPrompts: 4,
  systemPromptTokens: 1024,
  conversations: 24,
  turnTokensMin: 128,
  turnTokensMax: 640,
  promptTokensMax: 8192,
};

/**
 * An endless series of prompts, the same for the same options. Memory is bounded by `conversations` × `promptTokensMax` tokens
 * and the system prompts. A prompt is never written to after it was handed out.
 */
export function* chatTraffic(options: ChatTrafficOptions): Generator<Uint32Array, never, void> {
  const { conversations, turnTokensMin, turnTokensMax, promptTokensMax, systemPromptTokens } = options;
  assert(options.systemPrompts >= 1 && conversations >= 1, "chat traffic has a system prompt and a conversation");
  assert(1 <= turnTokensMin && turnTokensMin <= turnTokensMax, "a turn has from turnTokensMin to turnTokensMax tokens");
  assert(systemPromptTokens + turnTokensMax <= promptTokensMax, "a prompt has room for a system prompt and a turn");

  const random = new SeededRandom(options.seed);
  const systemPrompts = Array.from({ length: options.systemPrompts }, () => randomTokens(random, systemPromptTokens));
  const startConversation = () => systemPrompts[random.integerBelow(systemPrompts.length)];
  const histories = Array.from({ length: conversations }, startConversation);

  while (true) {
    const speaker = random.integerBelow(conversations);
    const turn = randomTokens(random, random.integerBetween(turnTokensMin, turnTokensMax));
    let history = histories[speaker];
    if (history.length + turn.length > promptTokensMax) history = startConversation();
    const prompt = new Uint32Array(history.length + turn.length);
    prompt.set(history);
    prompt.set(turn, history.length);
    histories[speaker] = prompt;
    yield prompt;
  }
}

function randomTokens(random: SeededRandom, count: number): Uint32Array {
  return Uint32Array.from({ length: count }, () => random.integerBelow(VOCABULARY_SIZE));
}
