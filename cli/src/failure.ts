/** A mistake of the person at the keyboard, or something that they can put right: what is wrong, and what to do. */
export class UserError extends Error {
  override readonly name = "UserError";
  readonly suggestion: string;
  /** 2 for a command that makes no sense, 1 for one that could not be carried out. */
  readonly exitCode: 1 | 2;

  constructor(message: string, suggestion: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.suggestion = suggestion;
    this.exitCode = exitCode;
  }
}
