export const TEAM_TAGS = ["Teams"];
