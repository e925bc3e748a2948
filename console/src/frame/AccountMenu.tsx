import { Menu, UnstyledButton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { teamList } from "../../../sdk/src/index.ts";
import { useMe } from "../api/me.ts";
import { askPlain } from "../api/query.ts";
import { useSwitchAccount } from "../api/session.ts";
import { HostileText } from "../ui/HostileText.tsx";
import { Icon } from "../ui/Icon.tsx";
import classes from "./frame.module.css";

/** The account for which the person acts, and the way to another: their own, or a team of theirs. */
export function AccountMenu() {
  const me = useMe();
  const change = useSwitchAccount();
  const teams = useQuery({
    ...askPlain("team.list", teamList),
    enabled: me !== undefined && me.parent_id === null,
  }).data?.teams;
  // In the session of a team the list has that team alone.
  const isTeam = teams?.some(({ id }) => id === me?.id) ?? false;
  const others = (teams ?? []).filter(({ id }) => id !== me?.id);
  return (
    <Menu position="bottom-start" width={240}>
      <Menu.Target>
        <UnstyledButton className={`${classes["barButton"]} ${classes["account"]}`}>
          <img src="/icon.svg" width={20} height={20} alt="" />
          <span className="visually-hidden">Account</span>
          <span>{me === undefined ? "Berth" : <HostileText text={me.username} />}</span>
          <Icon name="chevron" size={12} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {me !== undefined && (
          <Menu.Item leftSection={<Icon name="check" size={14} />}>
            <HostileText text={me.username} /> <span className="dim">{isTeam ? "this team" : "this account"}</span>
          </Menu.Item>
        )}
        {isTeam && (
          <Menu.Item leftSection={<Icon name="person" size={14} />} onClick={() => change.mutate(undefined)}>
            Act for myself
          </Menu.Item>
        )}
        {others.length > 0 && <Menu.Label>Act for a team</Menu.Label>}
        {others.map((team) => (
          <Menu.Item key={team.id} leftSection={<Icon name="team" size={14} />} onClick={() => change.mutate(team.id)}>
            <HostileText text={team.team_name} />
          </Menu.Item>
        ))}
        {change.error !== null && <Menu.Label role="alert">{change.error.message}</Menu.Label>}
        <Menu.Divider />
        <Menu.Item component={Link} to="/team">
          Team and members
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
