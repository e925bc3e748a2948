/**
 * User name for rsync at the SSH server of an instance, which published clients have built in. It opens the daemon of
 * copies and nothing else, with the keys that let `root` in.
 */
export const COPY_USER = "vastai_kaalia";
