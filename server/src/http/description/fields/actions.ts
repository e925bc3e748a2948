import type { FieldWords } from "../schemas.ts";

/** Fields that say what can be done with an instance now, and of its terminal, files and logs. */
export const ACTION_FIELDS: FieldWords = {
  "AllowedActions.start": ["Start"],
  "AllowedActions.stop": ["Stop; its data is kept"],
  "AllowedActions.reboot": ["Restart of the container in place"],
  "AllowedActions.recycle": ["New container from a freshly pulled image"],
  "AllowedActions.destroy": ["Destruction with all data"],
  "AllowedActions.change_bid": ["Change of the bid"],
  "AllowedActions.label": ["Change of the label"],
  "AllowedActions.change_traffic_limit": ["Change of the limit on traffic costs"],
  "AllowedActions.update_template": ["Change of image, environment and commands"],
  "AllowedActions.attach_ssh_key": ["Attaching and removing SSH keys"],
  "AllowedActions.snapshot": ["Pushing an image of the instance to a registry"],
  "AllowedActions.copy": ["Copies from and to the instance"],
  "AllowedActions.execute": ["Running `ls`, `rm` or `du` in its files"],
  "AllowedActions.logs": ["Fetching its logs"],
  "AllowedActions.prepay": ["Prepaying running time at a discount"],
  "AllowedAction.allowed": ["True when the request would be accepted", true],
  "AllowedAction.reason": ["The reason of the refusal", "Instance 7 is not running."],
  "Instance.pull": ["Progress of the pull of its image; null while none is under way or its size is not known", null],
  "PullProgress.done_bytes": ["Bytes that the host has", 3_100_000_000],
  "PullProgress.total_bytes": ["Bytes of the image that the host did not have before", 6_400_000_000],
  "PullProgress.bytes_per_second": ["Speed, averaged over the pull so far", 210_000_000],
  "PullProgress.eta_seconds": ["Seconds until it is done at that speed; null while nothing has come yet", 16],
};
