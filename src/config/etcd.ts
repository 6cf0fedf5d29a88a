/** What the two settings of etcd mean: addresses and a key prefix. */

/** Host names and IPv4 addresses as they are, IPv6 addresses in brackets. */
const ADDRESS = /^(https?:\/\/)?([\w.-]+|\[[\da-fA-F:.]+\]):(\d{1,5})$/;

/**
 * `a:2379,https://b:2379` as URLs without a path, in that order; a bare address is one of http. Empty for an empty text, null
 * when an address is none or only some are https: a client speaks TLS to all of its servers or to none.
 */
export function parseEtcdAddresses(text: string): string[] | null {
  if (text === "") return [];
  const addresses: string[] = [];
  for (const address of text.split(",")) {
    const [, scheme, host, digits] = ADDRESS.exec(address) ?? [];
    const port = Number(digits);
    if (!(port >= 1 && port <= 65535) || URL.parse(`http://${host}`) === null) return null;
    addresses.push(scheme === undefined ? `http://${address}` : address);
  }
  const secureCount = addresses.filter((address) => address.startsWith("https:")).length;
  return secureCount === 0 || secureCount === addresses.length ? addresses : null;
}

/** What stands before every key of the namespace: `a`, `/a`, `a/` and `/a/` are `/a/`; nothing and `/` are nothing. */
export function etcdKeyPrefix(namespace: string): string {
  const name = namespace.replace(/^\/+|\/+$/g, "");
  return name === "" ? "" : `/${name}/`;
}
