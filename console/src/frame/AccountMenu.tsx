import { Menu, UnstyledButton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { teamList } from "../../../sdk/src/index.ts";
import { useMe } from "../api/me.ts";
import { askPlain } from "../api/query.ts";
import { HostileText } from "../ui/HostileText.tsx";
import { Icon } from "../ui/Icon.tsx";
import classes from "./frame.module.css";

/** The account for which the person acts. */
export function AccountMenu() {
  const me = useMe();
  const teams = useQuery({
    ...askPlain("team.list", teamList),
    enabled: me !== undefined && me.parent_id === null,
  }).data;
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
            <HostileText text={me.username} /> <span className="dim">this account</span>
          </Menu.Item>
        )}
        {(teams?.teams ?? []).length > 0 && <Menu.Label>Teams</Menu.Label>}
        {teams?.teams.map((team) => (
          <Menu.Item key={team.id} leftSection={<Icon name="team" size={14} />} component={Link} to="/team">
            <HostileText text={team.team_name} />
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item component={Link} to="/team">
          Team and members
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
