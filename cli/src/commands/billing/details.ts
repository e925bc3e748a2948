import { userShow, userUpdate, type UserUpdateInput } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer, renderFields } from "../../output.ts";

type Options = ConnectionOptions & {
  readonly name?: string;
  readonly address?: string;
  readonly address2?: string;
  readonly zip?: string;
  readonly city?: string;
  readonly country?: string;
  readonly taxId?: string;
  readonly json?: boolean;
};

/** Changes the given billing details, and shows those of later documents. */
export async function billingDetails(options: Options): Promise<void> {
  const client = connect(options);
  const { name, address, address2, zip, city, country, taxId } = options;
  const given: readonly (readonly [keyof NonNullable<UserUpdateInput["body"]>, string | undefined])[] = [
    ["fullname", name],
    ["billaddress_line1", address],
    ["billaddress_line2", address2],
    ["billaddress_zip", zip],
    ["billaddress_city", city],
    ["billaddress_country", country],
    ["taxinfo", taxId],
  ];
  const changes = given.filter(([, value]) => value !== undefined);
  if (changes.length > 0) await userUpdate(client, { body: Object.fromEntries(changes) });
  const user = await userShow(client);
  const shown = {
    name: user.fullname,
    address: user.billaddress_line1,
    address2: user.billaddress_line2,
    zip: user.billaddress_zip,
    city: user.billaddress_city,
    country: user.billaddress_country,
    tax_id: user.taxinfo,
  };
  printAnswer(shown, options, (details) =>
    renderFields({
      Name: details.name,
      Address: [details.address, details.address2].filter((part) => part !== "").join(", "),
      Town: [details.zip, details.city].filter((part) => part !== "").join(" "),
      Country: details.country,
      "Tax id": details.tax_id,
    }),
  );
}
