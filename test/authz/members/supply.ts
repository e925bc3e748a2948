// Members of answers about offers, machines, market metrics and volumes.
import type { MemberTable } from "./members.ts";

const COSTS = "gpuCostPerHour diskHour totalHour discountTotalHour discountedTotalPerHour";

const OFFERS = [
  "offers[]: id ask_contract_id bundle_id bundled_results machine_id host_id hostname public_ipaddr cluster_id resource_type",
  "offers[]: rentable rented is_bid external verification vericode is_vm_deverified hosting_type logo webpage",
  "offers[]: error_description rn gpu_name num_gpus gpu_frac gpu_ram gpu_total_ram gpu_arch gpu_ids gpu_lanes gpu_mem_bw",
  "offers[]: gpu_max_power gpu_max_temp gpu_display_active compute_cap cuda_max_good driver_version driver_vers bw_nvlink",
  "offers[]: dlperf total_flops vram_costperhour cpu_cores cpu_cores_effective cpu_ram cpu_ghz cpu_name cpu_arch has_avx",
  "offers[]: mobo_name pci_gen pcie_bw os_version vms_enabled disk_space disk_bw disk_name storage_cost storage_total_cost",
  "offers[]: inet_up inet_down inet_up_cost inet_down_cost internet_up_cost_per_tb internet_down_cost_per_tb",
  "offers[]: direct_port_count static_ip geolocation geolocode avail_vol_ask_id avail_vol_size avail_vol_dph",
  "offers[]: nw_disk_min_bw nw_disk_max_bw nw_disk_avg_bw dph_base dph_total dph_total_adj min_bid discount_rate",
  "offers[]: discounted_hourly discounted_dph_total credit_discount_max dlperf_per_dphtotal flops_per_dphtotal platform_fee",
  "offers[]: reliability reliability2 expected_reliability reliability_mult score start_date end_date duration",
  "offers[]: time_remaining time_remaining_isbid",
  `offers[].search: ${COSTS}`,
  `offers[].instance: ${COSTS}`,
];

const VOLUME_OFFERS = [
  "offers[]: id ask_contract_id bundle_id machine_id host_id cluster_id disk_space disk_bw disk_name storage_cost",
  "offers[]: storage_total_cost inet_up inet_down reliability reliability2 reliability_mult duration start_date end_date",
  "offers[]: verification vericode external geolocation geolocode static_ip cuda_max_good cpu_ghz cpu_arch cpu_name",
  "offers[]: mobo_name driver_version driver_vers gpu_arch vms_enabled nw_disk_min_bw nw_disk_max_bw nw_disk_avg_bw",
];

const MACHINE =
  "id machine_id hostname geolocation timeout num_gpus gpu_name gpu_ram cpu_name cpu_ram cpu_cores listed " +
  "listed_gpu_cost listed_storage_cost listed_volume_cost listed_inet_up_cost listed_inet_down_cost min_bid_price " +
  "gpu_occupancy disk_space inet_up inet_down earn_hour earn_day current_rentals_running current_rentals_resident " +
  "reliability2 public_ipaddr driver_version cuda_max_good hosting_type num_reports verification credit_discount_max";

const COUNTS = "rented_verified avail_verified rented_unverified avail_unverified total available";
const GPU_COUNTS = `total_gpus available_gpus ${["rented", "avail"]
  .flatMap((state) => [`${state}_verified_gpus`, `${state}_unverified_gpus`])
  .join(" ")}`;

export const SUPPLY_MEMBERS: MemberTable = {
  "POST /api/v0/bundles/": OFFERS,
  "GET /api/v0/bundles/": OFFERS,
  "PUT /api/v0/search/asks/": OFFERS,
  "GET /api/v0/search/asks/": OFFERS,
  "GET /api/v0/gpu_names/unique/": ["gpu_names[]"],
  "GET /api/v0/gpu_types/": ["gpu_types[]: canonical_name gpu_ram_mb"],
  "GET /api/v0/gpu_types/{id}/": ["canonical_name gpu_ram_mb"],
  "GET /api/v0/benchmarks/": [
    "benchmarks_found next_token",
    "benchmarks[]: id? contract_id? machine_id? gpu_name? num_gpus? image? last_update? launch_args? template_hash?",
    "benchmarks[]: template_id? type? value? dph_base?",
  ],

  "GET /api/v0/machines/": [`machines[]: ${MACHINE}`],
  "GET /api/v0/machines/{id}/": [`[]: ${MACHINE}`],
  "GET /api/v1/machines/": ["success total_machines machines_found next_token", `machines[]: ${MACHINE}`],
  "GET /api/v0/machines/errors/": ["[]: machine_id error_description date"],
  "GET /api/v0/machines/errors/count/": ["count"],
  "GET /api/v0/machines/maintenances/": [
    "[]: id machine_id start_time end_time duration_hours maintenance_category maintenance_reason created_at cancelled_at",
  ],
  "POST /api/v0/machines/maintenances/": ["[]: id machine_id duration_hours start_time maintenance_category"],
  "DELETE /api/v0/machines/maintenances/": ["success msg"],
  "POST /api/v0/machines/maintenances/batch/": [
    "success",
    "results[]: success machine_id notifications_sent error? msg?",
  ],
  "DELETE /api/v0/machines/maintenances/batch/": ["success", "results[]: success maintenance_id msg"],
  "PUT /api/v0/machines/create_asks/": ["success extended you_sent", "results[]: machine_id"],
  "DELETE /api/v0/machines/{id}/asks/": ["success machine_id user_id orphaned_cleaned"],
  "PUT /api/v0/machines/{id}/minbid/": ["success you_sent.price"],
  "PUT /api/v0/machines/create_bids/": ["success machine_id user_id you_sent"],
  "DELETE /api/v0/machines/{id}/defjob/": ["success machine_id user_id"],
  "PUT /api/v0/machines/{id}/dnotify/": ["success you_sent machine_id notifications_sent"],
  "PUT /api/v0/machines/{id}/cancel_maint/": ["success ctime machine_id msg"],
  "PUT /api/v0/machines/{id}/cleanup/": ["success ctime machine_id user_id num_deleted msg"],
  "PUT /api/v0/machines/defrag_offers/": ["success defragmented n0 n1 n2"],
  "POST /api/v0/machines/{id}/force_delete/": ["success msg"],
  "GET /api/v0/machines/{id}/reports/": ["[]: problem message created_at"],
  "PUT /api/v0/machines/{id}/report/": ["success"],

  "GET /api/v0/metrics/gpu/current/": [
    "success needs_machine?",
    `gpus[]: gpu_name unavailable bucket_size usage usage_30d ${COUNTS} ${GPU_COUNTS}`,
    "gpus[]: dlperf tflops price_p10 price_p25 price_median price_p75 price_p90 tflops_per_dollar dlperf_per_dollar",
  ],
  "GET /api/v0/metrics/gpu/history/": [
    "success needs_machine?",
    `gpus.*.supply_demand: timestamps ${COUNTS} ${GPU_COUNTS} unavail_verified unavail_unverified bucket_size`,
    "gpus.*.pricing: timestamps rented_p10 rented_median rented_p90 avail_p10 avail_median avail_p90",
    "gpus.*.stats: tflops dlperf tflops_per_dollar dlperf_per_dollar",
  ],
  "GET /api/v0/metrics/gpu/locations/": [
    "success needs_machine?",
    "locations[]: latitude longitude city country_code gpu_name rented state verified datacenter num_gpus",
  ],

  "POST /api/v0/volumes/search/": VOLUME_OFFERS,
  "POST /api/v0/network_volumes/search/": VOLUME_OFFERS,
  "GET /api/v0/volumes/": [
    "volumes[]: id cluster_id label disk_space status disk_name driver_version inet_up inet_down reliability2 start_date",
    "volumes[]: machine_id verification host_id geolocation instances cuda_max_good public_ipaddr cpu_name mobo_name",
    "volumes[]: storage_total_cost os_version static_ip cpu_arch",
  ],
  "PUT /api/v0/volumes/": ["success volume_name id"],
  "DELETE /api/v0/volumes/": ["success msg"],
  "POST /api/v0/volumes/copy/": ["success volume_name msg"],
  "POST /api/v0/volumes/": [
    "success msg you_sent",
    "results[]: machine_id user_id extended new_contracts upd_contracts",
  ],
  "POST /api/v0/volumes/unlist/": ["success msg"],
  "POST /api/v0/network_volume/": ["success disk_id msg"],
  "POST /api/v0/network_volumes/": ["success disk_id msg"],
  "PUT /api/v0/network_volumes/": ["success id volume_name"],
  "POST /api/v0/network_volumes/unlist/": ["success msg"],
  "GET /api/v0/network_disk/": [
    "data[]: cluster_id machine_ids mounts",
    "data[].network_disks[]: network_disk_id free_space total_space",
  ],
  "POST /api/v0/network_disk/": ["success disk_id"],

  "PUT /api/v0/search/clusters/": ["offers[]"],
  "GET /api/v0/clusters/": ["clusters"],
};
