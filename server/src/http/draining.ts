/** The notice of this server that it is about to stop: it still answers, and asks for no further requests. */
export class Draining {
  #isDraining = false;

  get isDraining(): boolean {
    return this.#isDraining;
  }

  begin(): void {
    this.#isDraining = true;
  }
}
