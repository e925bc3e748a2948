import { Button, NumberInput, Select } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { machineCreateAsks, machineSetMinBid, type Machine } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import classes from "../../pages/host/host.module.css";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";

const KEEP = "keep";
const LENGTHS = ["1 week", "2 weeks", "1 month", "3 months", "1 year"];

type Terms = {
  readonly price_gpu: number | string;
  readonly price_min_bid: number | string;
  readonly price_disk: number | string;
  readonly price_inetu: number | string;
  readonly price_inetd: number | string;
  readonly min_chunk: number | string;
  readonly discount_percent: number | string;
  readonly vol_size: number | string;
};
type Field = { readonly key: keyof Terms; readonly label: string; readonly note?: string; readonly step: number };

const FIELDS: readonly Field[] = [
  { key: "price_gpu", label: "Price of a GPU, $/h", step: 0.01 },
  { key: "price_min_bid", label: "Minimum bid, $/h", note: "Never above the price.", step: 0.01 },
  { key: "price_disk", label: "Disk, $ per GB and month", step: 0.01 },
  { key: "min_chunk", label: "Fewest GPUs of a rental", step: 1 },
  { key: "price_inetu", label: "Sent traffic, $ per GB", step: 0.001 },
  { key: "price_inetd", label: "Received traffic, $ per GB", step: 0.001 },
  { key: "discount_percent", label: "Largest prepaid discount, %", note: "0 for none, 50 at most.", step: 1 },
  { key: "vol_size", label: "Space for volumes, GB", note: "0 offers none.", step: 10 },
];

/** Lists a machine, or changes its terms. Only what was changed is sent. */
export function MachineListing({ machine, onDone }: { readonly machine: Machine; readonly onDone: () => void }) {
  const start = termsOf(machine);
  const [terms, setTerms] = useState<Terms>(start);
  const [length, setLength] = useState(machine.listed ? KEEP : "1 month");
  const save = useAction(machineCreateAsks, { changes: ["machine", "offer"], onDone });
  const { discount_percent: percent, ...others } = changedTerms(start, terms);
  const body = {
    machine: machine.id,
    ...others,
    ...(percent === undefined ? {} : { credit_discount_max: percent / 100 }),
    ...(length === KEEP ? {} : { duration: length }),
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate({ body });
  };
  return (
    <form onSubmit={submit} className={classes["form"]}>
      <p className="dim">
        Present rentals keep their price. After a price has risen, renters are asked whether to stay at the new one when
        their agreed time ends.
      </p>
      <div className={classes["pair"]}>
        {FIELDS.map(({ key, label, note, step }) => (
          <NumberInput
            key={key}
            label={label}
            {...(note === undefined ? {} : { description: note })}
            min={0}
            step={step}
            decimalScale={9}
            value={terms[key]}
            onChange={(value) => setTerms({ ...terms, [key]: value })}
          />
        ))}
      </div>
      <Select
        label="Listed for"
        data={[...(machine.listed ? [{ value: KEEP, label: "as long as now" }] : []), ...LENGTHS]}
        value={length}
        onChange={(value) => setLength(value ?? KEEP)}
        allowDeselect={false}
      />
      {save.error !== null && <Failure error={save.error} />}
      <div className={classes["buttons"]}>
        <Button type="submit" variant="filled" loading={save.isPending}>
          {machine.listed ? "Change the listing" : "List the machine"}
        </Button>
        <AsCommand
          command={commandOf(machine.id, terms, length)}
          request={{ method: "PUT", path: "/api/v0/machines/create_asks/", body }}
        />
      </div>
      <MinimumBid machine={machine} price={terms.price_min_bid} onDone={onDone} />
    </form>
  );
}

/** The minimum bid alone, without listing again: no offer gets a new id, and no end moves. */
function MinimumBid(props: {
  readonly machine: Machine;
  readonly price: number | string;
  readonly onDone: () => void;
}) {
  const { machine, price, onDone } = props;
  const save = useAction(machineSetMinBid, { changes: ["machine", "offer"], onDone });
  if (!machine.listed || price === "" || Number(price) === machine.min_bid_price) return null;
  return (
    <>
      <p className="dim">Running bids below a minimum get the usual notice, keep their data, and wait.</p>
      {save.error !== null && <Failure error={save.error} />}
      <div className={classes["buttons"]}>
        <Button
          loading={save.isPending}
          onClick={() => save.mutate({ id: machine.id, body: { price: Number(price) } })}
        >
          Change the minimum bid only
        </Button>
        <AsCommand
          command={["machine", "min-bid", String(machine.id), String(price)]}
          request={{
            ...{ method: "PUT", path: `/api/v0/machines/${machine.id}/minbid/` },
            body: { price: Number(price) },
          }}
        />
      </div>
    </>
  );
}

function termsOf(machine: Machine): Terms {
  return {
    price_gpu: machine.listed_gpu_cost,
    price_min_bid: machine.min_bid_price,
    price_disk: machine.listed_storage_cost,
    price_inetu: machine.listed_inet_up_cost,
    price_inetd: machine.listed_inet_down_cost,
    min_chunk: machine.min_chunk,
    discount_percent: Math.round(machine.credit_discount_max * 100),
    vol_size: machine.volume_offer?.size ?? "",
  };
}

/** Terms that differ from those of the start; an emptied field stays as it was. */
function changedTerms(start: Terms, terms: Terms): Partial<Record<keyof Terms, number>> {
  const pairs = FIELDS.filter(({ key }) => terms[key] !== "" && Number(terms[key]) !== Number(start[key]));
  return Object.fromEntries(pairs.map(({ key }) => [key, Number(terms[key])]));
}

function commandOf(id: number, terms: Terms, length: string): readonly string[] {
  const words = ["machine", "price", String(id), "--gpu", String(terms.price_gpu), "--min-bid"];
  return [...words, String(terms.price_min_bid), ...(length === KEEP ? [] : ["--for", length])];
}
