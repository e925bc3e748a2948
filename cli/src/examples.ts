import type { Command } from "commander";

/** An example for the help of each command whose arguments do not explain themselves, by the words of the command. */
export const EXAMPLES: Readonly<Record<string, string>> = {
  up: "berth up --simulate 3 --port 8081",
  "admin user create": "berth admin user create ada@example.com --credit 25",
  "admin credit": "berth admin credit ada@example.com 25 --paid-by 'wire of 2026-03-01'",
  "admin key create": `berth admin key create ada@example.com --permissions '{"api":{"instance_read":{}}}'`,
  "admin verify-machine": "berth admin verify-machine 7 verified --data-center",
  "admin documents": "berth admin documents --month 2026-03 --output march.csv",
  "admin disk create": "berth admin disk create host@example.com --size 4000",
  "admin take-back": "berth admin take-back host@example.com 25 --reference case-7 --reason 'Invented traffic.'",
  "admin correct": "berth admin correct ada@example.com 2.50 --reference case-8 --reason 'Billed twice.'",
  "admin refund": "berth admin refund 12 10",
  search: "berth search gpu_name=RTX_4090 num_gpus=1 'reliability>0.98'",
  rent: "berth rent 12 --image pytorch/pytorch --disk 40 --runtype ssh",
  launch: "berth launch gpu_name=RTX_4090 num_gpus=1 --image pytorch/pytorch --max-price 0.5",
  "queue add": "berth queue add gpu_name=RTX_4090 --max-price 0.45 --hours 12 --image pytorch/pytorch",
  events: "berth events --follow --kinds instance,balance",
  bid: "berth bid 7 0.35",
  "traffic-limit": "berth traffic-limit 7 20",
  logs: "berth logs 7 --tail 100 --filter error",
  execute: "berth execute 7 'ls -l /workspace'",
  "update-template": "berth update-template 7 --image pytorch/pytorch --env '-e EPOCHS=3'",
  snapshot: "berth snapshot 7 --repo me/app:1 --login-user me",
  copy: "berth copy 7:/data/ V.3:/backup",
  "cloud add": "berth cloud add s3 backups --key-id AKIAEXAMPLE --region eu-central-1 < secret.txt",
  "cloud upload": "berth cloud upload 7:/workspace/out 3:bucket/out",
  "schedule create": "berth schedule create PUT /api/v0/instances/reboot/7/ --daily 03:00 --instance 7",
  ssh: "berth ssh 7 nvidia-smi",
  "attach-ssh": "berth attach-ssh 7 friend.pub",
  "env-var create": "berth env-var create HF_TOKEN < token.txt",
  "team invite": "berth team invite bob@example.com member",
  "team create-role": `berth team create-role auditor '{"api":{"billing_read":{}}}'`,
  transfer: "berth transfer bob@example.com 5",
  "billing charges": "berth billing charges --from 2026-03-01 --to 2026-03-31",
  "billing export": "berth billing export --from 2026-03-01 --output march.csv",
  "billing invoice": "berth billing invoice 2026-000042 --pdf march.pdf",
  "billing top-up": "berth billing top-up 25 --save-card",
  "billing autobill": "berth billing autobill --on --threshold 10 --amount 40",
  prepay: "berth prepay 7 576",
  "cap set": "berth cap set key:7 200 --per month",
  "notification set": "berth notification set client:outbid --email off --webhooks on",
  "webhook create": "berth webhook create https://example.com/berth client:low_credit client:outbid",
  "template create": "berth template create --name train --image pytorch/pytorch --disk 40",
  "volume rent": "berth volume rent 3 --size 50 --name data",
  "volume clone": "berth volume clone 2 5 --size 100",
  "disk list-for-rent": "berth disk list-for-rent 1 --price 0.1 --size 1000",
  "endpoint create": "berth endpoint create --name chat --min-load 0 --max-workers 8",
  "endpoint request": `berth endpoint request 1 --route /v1/completions --cost 200 --data '{"prompt": "Once"}'`,
  "endpoint simulate": "berth endpoint simulate 1 --hours 24 --min-load 10",
  "workergroup create": "berth workergroup create --endpoint 1 --template HASH --search 'gpu_name=RTX_4090 num_gpus=1'",
  "deployment deploy": "berth deployment deploy ./code --image me/runner --max-workers 4",
  "machine price": "berth machine price 7 --gpu 0.40 --min-bid 0.20 --for '2 weeks'",
  "machine min-bid": "berth machine min-bid 7 0.20",
  "machine default-job set": "berth machine default-job set 7 me/folding --threads 2",
  "machine maintenance schedule": "berth machine maintenance schedule 7 --at 2026-03-01T12:00 --hours 2",
  "machine report": "berth machine report 7 'slow disk' --message 'Writes stop for seconds.'",
  "host token create": "berth host token create --name rack-1 --hours 48",
  "host payout-method": "berth host payout-method paypal --email you@example.com",
};

/** Adds each example to the help of its command. Throws when there is no such command. */
export function addExamples(program: Command): void {
  for (const [words, example] of Object.entries(EXAMPLES)) {
    findCommand(program, words).addHelpText("after", `\nExample:\n  ${example}`);
  }
}

/** The command of these words, such as `queue add`. */
export function findCommand(program: Command, words: string): Command {
  let found = program;
  for (const word of words.split(" ")) {
    const next = found.commands.find((command) => command.name() === word);
    if (next === undefined) throw new Error(`there is no command ${words}`);
    found = next;
  }
  return found;
}
