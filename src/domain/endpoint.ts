/** ZeroMQ endpoints that Warmpath connects to: `tcp://host:port`, where the host is one machine and not every interface. */

/** Host names and IPv4 addresses as they are, IPv6 addresses in brackets. */
const ENDPOINT = /^tcp:\/\/([\w.-]+|\[[\da-fA-F:.]+\]):(\d{1,5})$/;

/** As the canonical form spells them; `*` is no host name at all. */
const WILDCARD_HOSTS = ["0.0.0.0", "[::]"];

/**
 * The one spelling of an endpoint under which two equal endpoints are equal strings: `tcp://P-3:05557` is
 * `tcp://p-3:5557`, `tcp://[0:0::1]:1` is `tcp://[::1]:1`. Null when `text` is no endpoint that can be connected to.
 * Host names are compared as names: nothing is resolved.
 */
export function canonicalEndpoint(text: string): string | null {
  const match = ENDPOINT.exec(text);
  if (match === null) return null;
  const [, host, digits] = match;
  // URLs of http have the rules for hosts that are wanted here: lower case, one form for each IPv4 and IPv6 address.
  const hostname = URL.parse(`http://${host}`)?.hostname;
  const port = Number(digits);
  if (hostname === undefined || WILDCARD_HOSTS.includes(hostname) || !(port >= 1 && port <= 65535)) return null;
  return `tcp://${hostname}:${port}`;
}
