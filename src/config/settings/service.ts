/** Settings of the service's own door. */

import { Type } from "@sinclair/typebox";
import { LOG_FORMATS, LOG_LEVELS } from "#base";

export const ServiceSettings = Type.Object(
  {
    host: Type.String({ default: "127.0.0.1", minLength: 1, description: "Address to listen on" }),
    http_server_port: Type.Integer({
      default: 8888,
      minimum: 0,
      maximum: 65535,
      description: "Port to listen on; 0 takes any free port",
    }),
    tls_cert: Type.String({
      default: "",
      allowed: "the path of a PEM file, or nothing",
      description:
        "Certificate, its issuers' behind it, to serve HTTPS and nothing else with; both tls_cert and tls_key or neither",
    }),
    tls_key: Type.String({
      default: "",
      allowed: "the path of a PEM file, or nothing",
      description: "Private key of that certificate, without passphrase; read at start, like the certificate",
    }),
    internal_api_token: Type.String({
      default: "",
      // What a header can carry unchanged: a token that ends in a newline, as files often do, would lock everyone out.
      pattern: "^[!-~]*$",
      allowed: "printable ASCII characters without spaces",
      writeOnly: true,
      description:
        "When set, /v1/internal/*, /v1/route and everything that changes state require the header X-Internal-Token with this value",
    }),
    log_format: Type.Union(
      LOG_FORMATS.map((format) => Type.Literal(format)),
      { default: "auto", description: "How log lines are written; auto: text on a terminal and in systemd's journal, else JSON" },
    ),
    log_level: Type.Union(
      LOG_LEVELS.map((level) => Type.Literal(level)),
      { default: "info", description: "The least level that is logged; debug also gives every repeat its line" },
    ),
  },
  { title: "Service" },
);
