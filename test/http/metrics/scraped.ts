/** What a scrape of the app says, as values. */

interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** Answers `GET /metrics` of `app`. */
export async function scrape(app: { handle(request: Request): Promise<Response> }): Promise<Scraped> {
  return new Scraped(await (await app.handle(new Request("http://localhost/metrics"))).text());
}

export class Scraped {
  readonly text: string;
  readonly samples: readonly Sample[];

  constructor(text: string) {
    this.text = text;
    this.samples = text.split("\n").flatMap((line) => {
      const [, name, labels = "", value] = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      return name === undefined ? [] : [{ name, labels: parseLabels(labels), value: Number(value) }];
    });
  }

  /** The value of the one sample of this name that has these labels, perhaps among others. */
  value(name: string, labels: Record<string, string | number> = {}): number | undefined {
    const found = this.samplesOf(name).filter((sample) =>
      Object.entries(labels).every(([label, value]) => sample.labels[label] === String(value)),
    );
    if (found.length > 1) throw new Error(`Cannot tell the value of ${name}: ${found.length} samples have these labels`);
    return found[0]?.value;
  }

  samplesOf(name: string): Sample[] {
    return this.samples.filter((sample) => sample.name === name);
  }

  /** Samples that speak of this instance. */
  of(instance: string): Sample[] {
    return this.samples.filter(({ labels }) => labels.instance_name === instance);
  }
}

function parseLabels(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, label, value]) => [label, value]));
}
