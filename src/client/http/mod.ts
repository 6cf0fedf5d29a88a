/**
 * The typed client of Warmpath's HTTP door, `warmpath/client`: every route with its types, by Eden; prompts as bytes; another try
 * where Warmpath asks for one. Of the door it imports the type alone, so a program that uses it runs none of the service.
 */

export {
  type Api,
  type Client,
  type ClientOptions,
  createClient,
  type Decision,
  type PromptOptions,
  type QueryAnswer,
  type QueryFields,
  type RouteAnswer,
  type RouteFields,
} from "./create-client.ts";
export type { RetryLimits } from "./retry.ts";
export type { Fetch } from "./retrying-fetch.ts";
