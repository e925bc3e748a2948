import type { AppError } from "../../../../base/errors.ts";
import type { MachineState } from "../../../supply/market/for-instances.ts";
import type { CreateAnswer } from "./create-answer.ts";
import type { CreateOrder } from "./create-order.ts";
import type { NewInstance } from "../store.ts";

/** The instance that an order would make of its offer. */
export type Candidate = {
  readonly order: CreateOrder;
  readonly instance: NewInstance;
  readonly state: MachineState;
};

export type CreateOutcome = CreateAnswer | AppError;
