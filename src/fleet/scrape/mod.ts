/** Engines' own `/metrics` as a source of load reports, for vLLM and SGLang instances that send no heartbeats. */

export { MetricsScraper } from "./scraper.ts";
