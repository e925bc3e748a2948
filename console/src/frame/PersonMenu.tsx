import { Menu, SegmentedControl, UnstyledButton, useMantineColorScheme } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useMe } from "../api/me.ts";
import { useSignOut } from "../api/session.ts";
import { HostileText } from "../ui/HostileText.tsx";
import { Icon } from "../ui/Icon.tsx";
import classes from "./frame.module.css";

const SCHEMES = [
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
  { value: "auto", label: "Auto" },
];

/** The menu of the person: their pages, the colours of the screen, and the way out. */
export function PersonMenu({ onHelp }: { readonly onHelp: () => void }) {
  const me = useMe();
  const signOut = useSignOut();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Menu position="bottom-end" width={240} closeOnItemClick>
      <Menu.Target>
        <UnstyledButton className={classes["barButton"]} aria-label="Person">
          <Icon name="person" />
          <Icon name="chevron" size={12} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {me !== undefined && (
          <Menu.Label>
            <HostileText text={me.email} />
          </Menu.Label>
        )}
        <Menu.Item component={Link} to="/account">
          Profile
        </Menu.Item>
        <Menu.Item component={Link} to="/account/security">
          Security
        </Menu.Item>
        <Menu.Item onClick={onHelp} rightSection={<kbd>?</kbd>}>
          Keyboard
        </Menu.Item>
        <Menu.Divider />
        <SegmentedControl
          fullWidth
          size="xs"
          aria-label="Colours"
          data={SCHEMES}
          value={colorScheme}
          onChange={(value) => {
            if (value === "light" || value === "dark" || value === "auto") setColorScheme(value);
          }}
        />
        <Menu.Divider />
        <Menu.Item onClick={() => signOut.mutate()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
