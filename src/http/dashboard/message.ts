/** What the dashboard's live feed sends: the contract between the page and the service, in snake_case, as types alone. */

import type { LoadBalancePolicy } from "#domain";
import type { InstancesAnswer } from "../instances/schema.ts";
import type { CandidateAnswer } from "../route/schema.ts";

/** One message of the feed: the first brings every sample and decision that is kept, the others what is new since the one before. */
export interface DashboardMessage {
  /** Milliseconds since 1970, as all times here. */
  at_ms: number;
  policy: LoadBalancePolicy;
  /** Blocks that one stream may have in the index. */
  max_blocks_per_stream: number;
  /** Why this process cannot serve now, a sentence each; null: it can. */
  unready: string[] | null;
  /** Null: the index was busy at that moment. */
  fleet: InstancesAnswer | null;
  /** Oldest first; the last one still grows and is sent again. Spans without a decision are absent. */
  samples: DecisionSample[];
  /** Oldest first. */
  decisions: DecisionEntry[];
}

/** The decisions of one span of time, summed. */
export interface DecisionSample {
  at_ms: number;
  decisions: number;
  /** Of these, those that could go nowhere. */
  refused: number;
  /** Tokens of the prompts whose hits the policy looked at, and what the chosen instances held of them. */
  prompt_tokens: number;
  device_hit_tokens: number;
  host_only_hit_tokens: number;
  disk_only_hit_tokens: number;
}

export interface DecisionEntry {
  /** Counts up from 1 with each decision of this process. */
  number: number;
  at_ms: number;
  request_id: string;
  prompt_tokens: number;
  policy: LoadBalancePolicy;
  /** Names of the chosen instances; both null where the request could go nowhere. */
  prefill: string | null;
  decode: string | null;
  /** Why it could go nowhere. */
  refused: string | null;
  /** The chosen first, then by score, then those that may not serve. */
  candidates: CandidateAnswer[];
  /** Candidates beyond those listed. */
  candidates_left_out: number;
}
