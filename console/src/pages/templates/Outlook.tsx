import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { templateOutlook, type TemplateOutlookResponse } from "../../../../sdk/src/index.ts";
import { ask } from "../../api/query.ts";
import { Answer } from "../../parts/Answer.tsx";
import { hourly } from "../../text/money.ts";
import { count, gigabytes } from "../../text/size.ts";
import { HostileText } from "../../ui/HostileText.tsx";
import classes from "./templates.module.css";

/** Says whether a template would start now, where and at what price. An offer that changes makes it ask again. */
export function Outlook({ id }: { readonly id: number }) {
  const outlook = useQuery(ask("offer.outlook", templateOutlook, { id: String(id) }));
  return (
    <section aria-label="Would it start?" className={classes["box"]}>
      <h2 className={classes["name"]}>Would it start?</h2>
      <Answer query={outlook} rows={5}>
        {(answer) => <Answered outlook={answer} />}
      </Answer>
    </section>
  );
}

function Answered({ outlook }: { readonly outlook: TemplateOutlookResponse }) {
  const { matching, offers, cheapest, refused, disk } = outlook;
  const [first] = cheapest;
  return (
    <>
      <p>
        {matching === 0
          ? `Not now: none of ${count(offers, "offer")} meets its conditions.`
          : `Yes, on ${matching.toLocaleString("en-US")} of ${count(offers, "offer")}${first === undefined ? "" : `, from ${hourly(first.dph_total)}`}, with ${gigabytes(disk)} of disk.`}
      </p>
      {cheapest.length > 0 && (
        <ul className={classes["lines"]} aria-label="Cheapest offers">
          {cheapest.map((offer) => (
            <li key={offer.ask_id} className={classes["line"]}>
              <span>
                <Link to="/market" search={{ offer: offer.ask_id, template: outlook.hash_id }}>
                  {offer.num_gpus}× <HostileText text={offer.gpu_name} />
                </Link>{" "}
                <span className="dim">
                  <HostileText text={offer.geolocation ?? ""} />
                </span>
              </span>
              <span>{hourly(offer.dph_total)}</span>
            </li>
          ))}
        </ul>
      )}
      {refused.length > 0 && (
        <>
          <p className="dim">What keeps offers away:</p>
          <ul className={classes["lines"]} aria-label="Conditions that offers do not meet">
            {refused.map((one) => (
              <li key={one.field}>
                <HostileText text={one.msg} />
                {one.alone > 0 && <span className="dim"> Alone it keeps {count(one.alone, "offer")} away.</span>}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
