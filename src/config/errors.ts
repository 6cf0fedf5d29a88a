/** What is wrong with a configuration, gathered whole before anything is refused. */

/** One wrong setting; the three parts read as `setting: found <found>, needed <needed>`. */
export interface Problem {
  /** Where the person who configures finds it: `--host`, `WARMPATH_HOST`, `streams[1].endpoint in "/etc/kv-events.json"`. */
  setting: string;
  found: string;
  needed: string;
}

/** The configuration cannot be accepted; `message` is one block with a line for every problem. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  /** One sentence for each wrong setting, in the order flags, environment, file. */
  readonly problems: readonly string[];

  constructor(problems: readonly Problem[]) {
    const sentences = problems.map(({ setting, found, needed }) => `${setting}: found ${found}, needed ${needed}`);
    super(["Cannot accept the configuration:", ...sentences].join("\n  "));
    this.problems = sentences;
  }
}
