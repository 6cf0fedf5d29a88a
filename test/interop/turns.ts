/** One question at a time: answers on several connections could overtake each other, and a later state come before an earlier one. */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  /** Asks once all before have their answers, or have failed. */
  take(question: () => Promise<void>): Promise<void> {
    const asked = this.#last.then(question);
    this.#last = asked.catch(() => {});
    return asked;
  }
}
