/** Settings of the service's own door. */

import { Type } from "@sinclair/typebox";

export const ServiceSettings = Type.Object(
  {
    host: Type.String({ default: "127.0.0.1", minLength: 1, description: "Address to listen on" }),
    http_server_port: Type.Integer({
      default: 8888,
      minimum: 0,
      maximum: 65535,
      description: "Port to listen on; 0 takes any free port",
    }),
    internal_api_token: Type.String({
      default: "",
      // What a header can carry unchanged: a token that ends in a newline, as files often do, would lock everyone out.
      pattern: "^[!-~]*$",
      allowed: "printable ASCII characters without spaces",
      writeOnly: true,
      description:
        "When set, /v1/internal/* and everything that changes state require the header X-Internal-Token with this value",
    }),
  },
  { title: "Service" },
);
