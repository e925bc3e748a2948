import { Outlet } from "@tanstack/react-router";
import classes from "../../frame/frame.module.css";
import { useTabName } from "../../frame/tab-name.ts";

/** The place of pages before somebody is signed in. */
export function Outer() {
  useTabName();
  return (
    <main className={classes["outer"]}>
      <div className={classes["card"]}>
        <div className={classes["brand"]}>
          <img src="/icon.svg" width={28} height={28} alt="" />
          Berth
        </div>
        <Outlet />
      </div>
    </main>
  );
}
