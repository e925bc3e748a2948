export const SIGN_IN_TAGS = ["Sign-in"];
