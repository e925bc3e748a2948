import { Type } from "typebox";
import type { User } from "./users/rules/user.ts";

/** Fields of the account in reports about money, under the names that each report publishes. */
export const REPORT_HEADING = {
  username: Type.String(),
  email: Type.String(),
  fullname: Type.String(),
  address1: Type.String(),
  address2: Type.String(),
  city: Type.String(),
  zip: Type.String(),
  country: Type.String(),
  taxinfo: Type.String(),
};

export function viewReportHeading({ username, email, fullname, billing }: User) {
  return {
    username,
    email,
    fullname,
    address1: billing.line1,
    address2: billing.line2,
    city: billing.city,
    zip: billing.zip,
    country: billing.country,
    taxinfo: billing.taxinfo,
  };
}
