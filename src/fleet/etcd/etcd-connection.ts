/**
 * One connection to one member of etcd: it authenticates, lists a range at one revision and watches it. It is never mended: when
 * anything goes wrong it is closed and another is made, so that no event is seen twice or missed.
 *
 * Of etcd3 it uses the requests alone: the library's watcher reconnects by itself, without a listing, and its authentication
 * leaves a connection open for every token.
 */

import type { Etcd3, IOptions, IRangeResponse, IWatchResponse, KVClient } from "etcd3";
import { WatchEndedError } from "./errors.ts";
import type { KeyChange, KeyValue } from "./key-table.ts";
import type { KeyRange } from "./keys.ts";

export interface EtcdCredentials {
  username: string;
  password: string;
}

export interface Listing {
  revision: number;
  entries: KeyValue[];
}

export interface WatchHandlers {
  /** The watch stands: from here on every change arrives. */
  standing(): void;
  /** In order, each once. */
  changed(change: KeyChange): void;
}

type CallOptions = NonNullable<Parameters<KVClient["range"]>[1]>;
type Interceptor = NonNullable<CallOptions["interceptors"]>[number];
type Call = ReturnType<Interceptor>;
type FaultPolicy = NonNullable<NonNullable<IOptions["faultHandling"]>["global"]>;

/** For each request, and for the watch to stand. A member that needs longer is no better than one that is away. */
export const REQUEST_TIMEOUT_MS = 5000;

/** Keys of one answer: bounds what is decoded without a pause. */
const PAGE_KEYS = 256;

/** For a page of values or the changes of one revision. gRPC's default of 4 MiB is less than etcd may send. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

/** A dead peer is noticed within nine seconds. etcd hangs up on whoever asks more often than every five. */
const KEEPALIVE_INTERVAL_MS = 6000;
const KEEPALIVE_TIMEOUT_MS = 3000;

/** gRPC's status code. */
const CANCELLED = 1;

/** What etcd says when it has no users. */
const AUTHENTICATION_OFF = "authentication is not enabled";

/** Whoever owns the connection tries again, on another one. */
const ONCE = { execute: async (request: (context: object) => unknown) => request({}) } as unknown as FaultPolicy;

export class EtcdConnection {
  readonly #client: Etcd3;
  readonly #credentials: EtcdCredentials | null;
  #token: string | null = null;
  /** The latest call; there is one at a time. */
  #call: Call | null = null;

  /** `address` is `host:port` or a URL with it; connects at the first request. `Client` is etcd3's, which is loaded on demand. */
  constructor(Client: typeof Etcd3, address: string, credentials: EtcdCredentials | null) {
    this.#credentials = credentials;
    this.#client = new Client({
      hosts: address,
      faultHandling: { global: ONCE, host: () => ONCE },
      grpcOptions: {
        "grpc.keepalive_time_ms": KEEPALIVE_INTERVAL_MS,
        "grpc.keepalive_timeout_ms": KEEPALIVE_TIMEOUT_MS,
        "grpc.max_receive_message_length": ANSWER_BYTES_MAX,
        "grpc.use_local_subchannel_pool": 1,
        "grpc.enable_http_proxy": 0,
        "grpc.service_config_disable_resolution": 1,
      },
    });
  }

  /** Gets a token for the credentials, if there are any. False when etcd has authentication switched off. */
  async authenticate(): Promise<boolean> {
    if (this.#credentials === null) return true;
    const { username: name, password } = this.#credentials;
    try {
      this.#token = (await this.#client.auth.authenticate({ name, password }, this.#callOptions())).token;
      return true;
    } catch (error) {
      if (error instanceof Error && error.message.includes(AUTHENTICATION_OFF)) return false;
      throw error;
    }
  }

  /** All keys of the range as of one revision: as many as etcd's own quota holds. */
  async list({ start, end }: KeyRange): Promise<Listing> {
    const entries: KeyValue[] = [];
    let revision: number | null = null;
    let key = start;
    let page: IRangeResponse;
    do {
      const request = { key, range_end: end, limit: PAGE_KEYS, ...(revision !== null && { revision }) };
      page = await this.#client.kv.range(request, this.#callOptions());
      revision ??= Number(page.header.revision);
      for (const kv of page.kvs) entries.push(keyValue(kv));
      key = Buffer.concat([page.kvs.at(-1)?.key ?? key, Buffer.of(0)]);
    } while (page.more);
    return { revision, entries };
  }

  /** Watches the range from the revision on. Never resolves: it rejects with what ended the watch. */
  async watch({ start, end }: KeyRange, startRevision: number, handlers: WatchHandlers): Promise<never> {
    const stream = await this.#client.watchClient.watch({ interceptors: [this.#intercept] });
    return new Promise((_, reject) => {
      let isOver = false;
      const finish = (error: Error) => {
        isOver = true;
        clearTimeout(timer);
        stream.cancel();
        reject(error);
      };
      const timer = setTimeout(() => finish(new WatchEndedError("it did not begin in time")), REQUEST_TIMEOUT_MS);
      stream.on("data", (response: IWatchResponse) => {
        if (isOver) return;
        if (response.canceled) return finish(new WatchEndedError(response.cancel_reason || "a compaction removed what it needs"));
        if (response.created) {
          clearTimeout(timer);
          handlers.standing();
        }
        for (const { type, kv } of response.events) {
          handlers.changed(type === "Put" ? { type: "put", ...keyValue(kv) } : { type: "delete", key: kv.key });
        }
      });
      stream.on("error", finish);
      stream.on("end", () => finish(new WatchEndedError("etcd ended it")));
      stream.write({ create_request: { key: start, range_end: end, start_revision: startRevision } });
    });
  }

  /** Ends what is under way, which then rejects, and closes the socket. */
  close(): void {
    this.#call?.cancelWithStatus(CANCELLED, "Warmpath closed the connection");
    this.#client.close();
  }

  #callOptions(): CallOptions {
    return { deadline: Date.now() + REQUEST_TIMEOUT_MS, interceptors: [this.#intercept] };
  }

  /** Gives a call its token, and keeps it so that it can be cancelled. A member without a leader shall refuse it, not wait. */
  readonly #intercept: Interceptor = (options, next) => {
    // etcd3's type asks for gRPC's own class, of which a call is used through its interface alone.
    const call = next(options) as Call;
    const start = call.start.bind(call);
    call.start = (metadata, listener) => {
      metadata.set("hasleader", "true");
      if (this.#token !== null) metadata.set("token", this.#token);
      start(metadata, listener);
    };
    this.#call = call;
    return call;
  };
}

function keyValue(kv: { key: Buffer; value: Buffer; mod_revision: string }): KeyValue {
  return { key: kv.key, value: kv.value, modRevision: Number(kv.mod_revision) };
}
