/** Names whose market form follows no rule, by the vendor's text without its company prefix. */
const IRREGULAR: Readonly<Record<string, string>> = {
  A10G: "A10g",
  "GH200 480GB": "GH200 SXM",
  "RTX PRO 6000 Blackwell Workstation Edition": "RTX PRO 6000 WS",
  "RTX PRO 6000 Blackwell Server Edition": "RTX PRO 6000 S",
  "RTX PRO 6000 Blackwell Max-Q Workstation Edition": "RTX PRO 6000 Max-Q",
  "TITAN RTX": "Titan RTX",
  "TITAN V": "Titan V",
  "TITAN X (Pascal)": "Titan X",
  "TITAN Xp": "Titan Xp",
  "TITAN Xp COLLECTORS EDITION": "Titan Xp",
};

/**
 * The market's canonical name of a GPU for what the vendor's tool prints, for example
 * `NVIDIA GeForce RTX 4090` → `RTX 4090`, `NVIDIA A100-SXM4-80GB` → `A100 SXM4`. An unknown name only loses its prefix.
 */
export function canonicalGpuName(printed: string): string {
  const bare = printed
    .trim()
    .replace(/^NVIDIA\s+/i, "")
    .replace(/^Graphics Device$/i, "Unknown GPU");
  const irregular = IRREGULAR[bare];
  if (irregular !== undefined) return irregular;
  if (/^(Tesla )?(K20c|K80|M40|P4|P6|P40|P100|T4|V100)\b/.test(bare)) return teslaName(bare);
  if (/^(A|H|B|GH|GB|L)\d+S?\b/.test(bare)) return dataCentreName(bare);
  if (bare.startsWith("GeForce ")) return geforceName(bare.slice("GeForce ".length));
  const quadro = /^Quadro RTX (\d+)/.exec(bare);
  if (quadro) return `Q RTX ${quadro[1]}`;
  const ada = /^RTX (\d{4}) (?:SFF )?Ada Generation/.exec(bare);
  if (ada) return `RTX ${ada[1]}Ada`;
  const pro = /^RTX PRO (\d{4})\b/.exec(bare);
  if (pro) return `RTX PRO ${pro[1]}`;
  return bare;
}

function teslaName(bare: string): string {
  const match = /(K20c|K80|M40|P4|P6|P40|P100|T4|V100)\b/.exec(bare);
  return `Tesla ${match?.[1] ?? bare}`;
}

/** Sizes and bus forms are in the printed name; the market keeps the board form only where several are sold. */
function dataCentreName(bare: string): string {
  const chip = /^[A-Z]+\d+S?/.exec(bare)?.[0] ?? bare;
  if (chip === "A100" || chip === "A800") return /SXM/.test(bare) ? `${chip} SXM4` : `${chip} PCIE`;
  if (chip === "H100") return /NVL/.test(bare) ? "H100 NVL" : /PCIe/i.test(bare) ? "H100 PCIE" : "H100 SXM";
  if (chip === "H200") return /NVL/.test(bare) ? "H200 NVL" : "H200";
  if (chip === "GH200") return "GH200 SXM";
  return chip;
}

function geforceName(series: string): string {
  return series
    .replace(/^GTX (\d{3})$/, "GeForce $1")
    .replace(/ SUPER$/i, "S")
    .replace(/ Ti SUPER$/i, "S Ti")
    .replace(/^(RTX \d{4}) TiS$/i, "$1S Ti")
    .replace(/ Laptop GPU$/i, " laptop")
    .replace(/^(RTX 4090) D$/i, "$1D")
    .replace(/ \d+ ?GB$/i, "");
}
