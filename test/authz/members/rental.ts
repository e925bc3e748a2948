// Members of answers about instances, copies, schedules and templates.
import type { MemberTable } from "./members.ts";

const COSTS = "gpuCostPerHour diskHour totalHour discountTotalHour discountedTotalPerHour";

/** The lines of the record of an instance under this path. */
const instanceAt = (path: string) => [
  `${path}: id actual_status intended_status cur_state next_state status_msg label machine_id host_id bundle_id hosting_type`,
  `${path}: template_id template_hash_id template_name is_bid start_date end_date duration uptime_mins client_run_time`,
  `${path}: host_run_time time_remaining time_remaining_isbid rentable external verification static_ip image_uuid image_args`,
  `${path}: image_runtype extra_env onstart jupyter_token ssh_host ssh_port ssh_idx machine_dir_ssh_port public_ipaddr`,
  `${path}: local_ipaddrs ports direct_port_count direct_port_start direct_port_end num_gpus gpu_name gpu_arch gpu_frac`,
  `${path}: gpu_lanes gpu_mem_bw bw_nvlink gpu_ram gpu_totalram gpu_total_ram gpu_util gpu_temp cpu_cores`,
  `${path}: cpu_cores_effective cpu_name cpu_arch cpu_ram cpu_util mem_limit mem_usage vmem_usage disk_space disk_usage`,
  `${path}: disk_util disk_bw disk_name inet_up inet_down mobo_name os_version pci_gen pcie_bw driver_version`,
  `${path}: cuda_max_good dlperf dlperf_per_dphtotal flops_per_dphtotal total_flops score reliability2 geolocation`,
  `${path}: country_code logo webpage volume_info dph_base dph_total min_bid storage_cost storage_total_cost`,
  `${path}: vram_costperhour inet_up_cost inet_down_cost internet_up_cost_per_tb internet_down_cost_per_tb`,
  `${path}: credit_balance credit_discount credit_discount_max`,
  `${path}.search: ${COSTS}`,
  `${path}.instance: ${COSTS}`,
];

/** The lines of the record of a template under this path. */
const templateAt = (path: string) => [
  `${path}: id hash_id name image tag default_tag env onstart runtype args_str ssh_direct jup_direct use_ssh use_jupyter_lab`,
  `${path}: jupyter_dir docker_login_repo href repo desc readme readme_visible private recommended recommended_disk_space`,
  `${path}: extra_filters creator_id created_at count_created recent_create_date volume_info`,
];

const CREATED = ["success new_contract instance_api_key ask_id"];
const CHANGED_BULK = ["success msg"];

export const RENTAL_MEMBERS: MemberTable = {
  "PUT /api/v0/asks/{id}/": CREATED,
  "POST /api/v0/asks/{id}/": CREATED,
  "POST /api/v0/asks/bulk/": [
    "success created[] failed[] elapsed",
    "results[]: ask_id success new_contract state error? msg?",
  ],
  "PUT /api/v0/launch_instance/": ["success new_contract"],
  "GET /api/v1/instances/": [
    "success instances_found total_instances label_counts next_token",
    ...instanceAt("instances[]"),
  ],
  "GET /api/v0/instances/": [
    "instances_found",
    ...instanceAt("instances[]"),
    "instances[].volume_info[]: id avail_space total_space",
  ],
  "GET /api/v0/instances/{id}/": [...instanceAt("instances"), "instances.volume_info[]: id avail_space total_space"],
  "GET /api/v0/instances/filters/": ["filters[]: actual_status verification gpu_name"],
  "GET /api/v0/instances/count/": ["count"],
  "GET /api/v1/counts/": ["data: total_instances total_volumes"],
  "PUT /api/v0/instances/{id}/": ["success msg"],
  "DELETE /api/v0/instances/{id}/": ["success msg"],
  "PUT /api/v0/instances/": CHANGED_BULK,
  "DELETE /api/v0/instances/": CHANGED_BULK,
  "POST /api/v0/instances/start/": CHANGED_BULK,
  "PUT /api/v0/instances/bid_price/{id}/": ["success"],
  "PUT /api/v0/instances/prepay/{id}/": ["success timescale discount_rate"],
  "PUT /api/v0/instances/reboot/{id}/": ["success"],
  "PUT /api/v0/instances/recycle/{id}/": ["success"],
  "PUT /api/v0/instances/update_template/{id}/": ["success updated_instance msg?"],
  "POST /api/v0/instances/take_snapshot/{id}/": ["success msg"],
  "GET /api/v0/instances/pending-price-increases/": [
    "success count truncated",
    "pending_price_increases[]: pending_price_increase_id contract_id host_id old_gpu_costpersec new_gpu_costpersec",
    "pending_price_increases[]: old_disk_ram_costpersec new_disk_ram_costpersec old_bwu_cost new_bwu_cost old_bwd_cost",
    "pending_price_increases[]: new_bwd_cost old_platform_fee new_platform_fee contract_end_date ask_end_date created_at",
  ],
  "PUT /api/v0/instances/accept-price-increase/": ["success pending_price_increase_id contract_id"],
  "PUT /api/v0/instances/reject-price-increase/": ["success pending_price_increase_id contract_id"],
  "PUT /api/v0/instances/{id}/accept-price-increase/": ["success pending_price_increase_id contract_id"],
  "GET /api/v0/instances/balance/{id}/": ["success refundable_deposit total_discount discount_months"],
  "PUT /api/v0/instances/request_logs/{id}/": ["success result_url msg"],
  "PUT /api/v0/instances/command/{id}/": ["success result_url writeable_path msg"],
  "POST /api/v0/instances/{id}/ssh/": ["success msg key"],
  "PUT /api/v0/instances/{id}/ssh/": ["success msg key"],
  "GET /api/v0/instances/{id}/ssh/": ["success ssh_keys"],
  "DELETE /api/v0/instances/{id}/ssh/{key_id}/": ["success msg"],
  "GET /api/v0/instance_backups/": ["backups[]: id contract_id type machine_id status created_at info"],
  "GET /api/v0/instance_backups/{contract_id}/download/": [
    "authorization_token expires_in_sec truncated",
    "files[]: name size url",
  ],

  "PUT /api/v0/commands/copy_direct/": ["success msg src_addr? src_port? dst_addr? dst_port?"],
  "DELETE /api/v0/commands/copy_direct/": ["success msg"],
  "PUT /api/v0/commands/rsync/": ["success msg src_addr? src_port? dst_addr? dst_port?"],
  "DELETE /api/v0/commands/rsync/": ["success"],
  "POST /api/v0/commands/get_copy_size/": ["success result_url msg"],
  "GET /api/v0/commands/schedule_job/": [
    "[]: id instance_id api_endpoint start_time end_time day_of_the_week hour_of_the_day min_of_the_hour frequency",
  ],
  "POST /api/v0/commands/schedule_job/": ["success scheduled_job_id msg"],
  "PUT /api/v0/commands/schedule_job/{id}/": ["success scheduled_job_id msg"],
  "DELETE /api/v0/commands/schedule_job/{id}/": ["success msg"],

  "GET /api/v0/template/": ["success templates_found", ...templateAt("templates[]")],
  "POST /api/v0/template/": ["success msg", ...templateAt("template")],
  "PUT /api/v0/template/": ["success hash_id", ...templateAt("template")],
  "DELETE /api/v0/template/": ["success msg"],
  "GET /api/v1/template/": ["success templates_found next_token msg?", ...templateAt("templates[]")],
  "PUT /api/v1/template/": ["success msg hash_id", ...templateAt("template")],
  "GET /api/v0/template/recent/": [
    "success templates_found page_size last_page_template_id last_page_last_used_at templates[].last_used_at",
    ...templateAt("templates[]"),
  ],
  "GET /api/v0/template/params/": [
    "success",
    "limits: extra_filters env repo desc args_str href onstart jupyter_dir name readme image docker_login_user",
    "limits: docker_login_pass",
  ],
  "GET /api/v0/users/{user_id}/templates/": ["success templates[].user_template_id", ...templateAt("templates[]")],
  "POST /api/v0/users/{user_id}/templates/": ["success", ...templateAt("templates[]")],
  "DELETE /api/v0/users/{user_id}/templates/": ["success msg"],
  "POST /api/v0/users/{user_id}/template/": ["success"],
  "GET /api/v0/users/{user_id}/templates/{hash_id}/": [
    "success templates[].id referral_templates[].id popular[].id recommended[].id autoscaler[].id",
  ],
  "GET /api/v0/users/{user_id}/templates/autoscaler/": ["success autoscaler[].id recommended[].id"],
  "POST /api/v1/templates/fetch-tags/": ["success tags[] error?"],
  "POST /api/v1/templates/validate-auth/": ["success authenticated repositories[]"],
  "GET /api/v0/docker/tags/": ["success tags[]"],
};
