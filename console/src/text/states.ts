// Words of states: one word, one colour, one icon each. The colour never says more than the word.

export type Tone = "green" | "blue" | "amber" | "violet" | "grey" | "red";
export type StateIcon = "dot" | "bar" | "clock" | "queue" | "stop" | "off" | "alert" | "check";
export type StateWord = { readonly word: string; readonly tone: Tone; readonly icon: StateIcon };

const STATES = {
  loading: { word: "loading", tone: "blue", icon: "bar" },
  creating: { word: "creating", tone: "blue", icon: "bar" },
  connecting: { word: "connecting", tone: "blue", icon: "bar" },
  running: { word: "running", tone: "green", icon: "dot" },
  yielding: { word: "yielding", tone: "amber", icon: "clock" },
  waiting: { word: "waiting", tone: "violet", icon: "queue" },
  scheduling: { word: "waiting", tone: "violet", icon: "queue" },
  stopping: { word: "stopping", tone: "blue", icon: "bar" },
  stopped: { word: "stopped", tone: "grey", icon: "stop" },
  exited: { word: "stopped", tone: "grey", icon: "stop" },
  offline: { word: "offline", tone: "red", icon: "off" },
  failed: { word: "failed", tone: "red", icon: "alert" },
  rebooting: { word: "rebooting", tone: "blue", icon: "bar" },
  ended: { word: "ended", tone: "grey", icon: "stop" },
  listed: { word: "listed", tone: "green", icon: "dot" },
  verified: { word: "verified", tone: "green", icon: "check" },
  active: { word: "active", tone: "green", icon: "dot" },
  suspended: { word: "suspended", tone: "amber", icon: "clock" },
  idle: { word: "ready", tone: "green", icon: "dot" },
  starting: { word: "starting", tone: "blue", icon: "bar" },
  model_loading: { word: "loading its model", tone: "blue", icon: "bar" },
  update_ready: { word: "to be updated", tone: "amber", icon: "clock" },
  unavail: { word: "silent", tone: "red", icon: "off" },
  error: { word: "failed", tone: "red", icon: "alert" },
  destroying: { word: "being destroyed", tone: "grey", icon: "stop" },
  complete: { word: "stored", tone: "green", icon: "check" },
  pending: { word: "waits for its code", tone: "amber", icon: "clock" },
  unverified: { word: "not verified", tone: "grey", icon: "dot" },
} as const satisfies Readonly<Record<string, StateWord>>;

/** The word of a state of the API; a state that is not known here is shown as it is, in grey. */
export function stateWord(state: string): StateWord {
  return isKnown(state) ? STATES[state] : { word: state, tone: "grey", icon: "dot" };
}

function isKnown(state: string): state is keyof typeof STATES {
  return Object.hasOwn(STATES, state);
}
