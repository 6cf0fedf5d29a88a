/** Numbers for contents: blocks that have the same tokens, and the same before them, under the same namespace, share one. */

import { concatenate, type Namespace } from "#domain";

export class ReferenceContents {
  readonly #numbers = new Map<string, number>();

  /** Contents of the blocks of a prompt from its root on. */
  prompt(hashSeed: number, tokens: Uint32Array, blockSize: number, namespace: Namespace | null): Generator<number> {
    return this.#blocks(-hashSeed, [namespace?.root], tokens, blockSize, namespace);
  }

  /** Contents of the blocks that follow the one of the content `parent`. */
  children(parent: number, tokens: Uint32Array, blockSize: number, namespace: Namespace | null): Generator<number> {
    return this.#blocks(parent, [], tokens, blockSize, namespace);
  }

  *#blocks(
    before: number,
    root: readonly (Uint8Array | null | undefined)[],
    tokens: Uint32Array,
    blockSize: number,
    namespace: Namespace | null,
  ): Generator<number> {
    let content = before;
    for (let block = 0; (block + 1) * blockSize <= tokens.length; block++) {
      const own = namespace?.extraKeys?.[block];
      const bytes = [...(block === 0 ? root : []), own].filter((part) => part !== null && part !== undefined);
      if (bytes.length > 0) content = this.#number(`${content}/${concatenate(bytes)}`);
      content = this.#number(`${content}:${tokens.subarray(block * blockSize, (block + 1) * blockSize)}`);
      yield content;
    }
  }

  #number(name: string): number {
    const number = this.#numbers.get(name) ?? this.#numbers.size + 1;
    this.#numbers.set(name, number);
    return number;
  }
}
