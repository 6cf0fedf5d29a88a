/** The schema of a word from a closed list, which TypeBox lacks: typed as the list, an enumeration in OpenAPI. */

import { Type } from "@sinclair/typebox";

/** One of `words`, each of letters, digits and `_-` alone, in the spelling given. */
export function oneOf<const Word extends string>(words: readonly Word[]) {
  return Type.Unsafe<Word>(
    Type.String({ enum: [...words], pattern: `^(?:${words.join("|")})$`, description: `one of ${words.join(", ")} is allowed` }),
  );
}
