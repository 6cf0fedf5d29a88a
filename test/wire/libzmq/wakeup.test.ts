import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Poller, WakeupCaller, WakeupListener, ZmqContext } from "#wire";

describe("WakeupListener", () => {
  let context: ZmqContext;
  let listener: WakeupListener;

  beforeEach(() => {
    context = ZmqContext.create();
    listener = new WakeupListener(context);
  });

  afterEach(() => {
    listener.close();
    context.terminate();
  });

  test("WakeupListener is woken out of a poller by another thread", async () => {
    const thread = new Worker(new URL("./wakeup.thread.ts", import.meta.url).href);
    const reply = (message: number | "wake" | "close") => {
      const { promise, resolve } = Promise.withResolvers<void>();
      thread.onmessage = ({ data }) => (data === message ? resolve() : undefined);
      thread.postMessage(message);
      return promise;
    };
    const poller = new Poller<string>();
    poller.add(listener.socket, "wake-up");
    await reply(context.address);
    expect(poller.wait(0)).toEqual([]);
    thread.postMessage("wake"); // this thread waits in the poller while the other calls
    expect(poller.wait(5000)).toEqual(["wake-up"]);
    expect(listener.drain()).toBe(true);
    expect(listener.drain()).toBe(false);
    await reply("close"); // a context cannot end while another thread has a socket of it
    thread.terminate();
  });

  test("WakeupListener hears any number of calls as one, and the caller never waits", () => {
    const caller = new WakeupCaller(context.address);
    for (let count = 0; count < 1000; count++) caller.wake();
    expect(listener.drain()).toBe(true);
    expect(listener.drain()).toBe(false);
    caller.wake();
    expect(listener.drain()).toBe(true);
    caller.close();
  });

  test("WakeupListener may come after its caller, whose calls are kept", () => {
    const late = ZmqContext.create();
    const caller = new WakeupCaller(late.address);
    caller.wake();
    const lateListener = new WakeupListener(late);
    expect(lateListener.drain()).toBe(true);
    caller.close();
    lateListener.close();
    late.terminate();
  });

  test("WakeupListener is one per context", () => {
    expect(() => new WakeupListener(context)).toThrow('Cannot bind "inproc://wakeup": EADDRINUSE');
  });
});
