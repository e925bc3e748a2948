/** An error that the user can correct: the message says what is wrong, the suggestion what to do. */
export class UserError extends Error {
  override readonly name = "UserError";
  readonly suggestion: string;
  /** 2 for a wrong command line, 1 for a command that could not be carried out. */
  readonly exitCode: 1 | 2;

  constructor(message: string, suggestion: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.suggestion = suggestion;
    this.exitCode = exitCode;
  }
}
