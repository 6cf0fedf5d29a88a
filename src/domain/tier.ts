/** Where a block's KV tensors are. The order is from fastest to slowest and is the tier's code in shared memory. */

export const TIERS = ["device", "host", "disk"] as const;

export type Tier = (typeof TIERS)[number];

/** The tier's number in lanes and in the index kernel: device 0, host 1, disk 2. */
export const TIER_CODE: Readonly<Record<Tier, number>> = { device: 0, host: 1, disk: 2 };
