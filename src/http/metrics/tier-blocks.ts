/** A stream's resident blocks by tier. */

import type { StreamMatch, Tier } from "#domain";

export function blocksOn({ deviceBlocks, hostBlocks, diskBlocks }: StreamMatch, tier: Tier): number {
  switch (tier) {
    case "device":
      return deviceBlocks;
    case "host":
      return hostBlocks;
    case "disk":
      return diskBlocks;
  }
}
