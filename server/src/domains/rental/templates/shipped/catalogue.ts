import type { Fields } from "../rules/fields.ts";
import { README } from "./readmes.ts";

/** A template that comes with the server. */
export type ShippedTemplate = {
  /** Its name in the database, which never changes. */
  readonly key: string;
  /** Raise it with every change of the fields, so that servers of an older version leave them alone. */
  readonly revision: number;
  readonly fields: Fields;
};

const DIRECT_SSH = { runtype: "ssh", ssh_direct: true, use_ssh: true };
const NOTEBOOK = {
  runtype: "jupyter",
  ssh_direct: true,
  use_ssh: true,
  jup_direct: true,
  use_jupyter_lab: true,
};
/** Driver versions that run images with CUDA 12.8, and the least memory of a GPU in MB. */
const cuda = (least: number, gpuMegabytes: number) => ({
  cuda_max_good: { gte: least },
  gpu_ram: { gte: gpuMegabytes },
});

/** Templates that a database gets at its first start, in the order in which they are shown. */
export const CATALOGUE: readonly ShippedTemplate[] = [
  {
    key: "ubuntu",
    revision: 1,
    fields: {
      name: "Ubuntu 24.04 with SSH",
      image: "ubuntu:24.04",
      desc: "A plain Ubuntu to log in to and set up as you like.",
      readme: README.ubuntu,
      href: "https://hub.docker.com/_/ubuntu",
      recommended_disk_space: 16,
      ...DIRECT_SSH,
    },
  },
  {
    key: "pytorch",
    revision: 1,
    fields: {
      name: "PyTorch 2.8",
      image: "pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime",
      desc: "Python with PyTorch and CUDA 12.8, to train and try models over SSH.",
      readme: README.pytorch,
      href: "https://hub.docker.com/r/pytorch/pytorch",
      env: "-e HF_HOME=/workspace/huggingface",
      onstart: "mkdir -p /workspace/huggingface",
      extra_filters: cuda(12.8, 8_000),
      recommended_disk_space: 40,
      ...DIRECT_SSH,
    },
  },
  {
    key: "jupyter",
    revision: 1,
    fields: {
      name: "JupyterLab with PyTorch",
      image: "pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime",
      desc: "JupyterLab in the browser, with PyTorch and CUDA 12.8.",
      readme: README.jupyter,
      href: "https://hub.docker.com/r/pytorch/pytorch",
      env: "-e HF_HOME=/workspace/huggingface",
      // The notebook server starts by itself once it is installed.
      onstart:
        "mkdir -p /workspace/huggingface\ncommand -v jupyter > /dev/null || pip install --no-cache-dir jupyterlab ipywidgets",
      jupyter_dir: "/workspace",
      extra_filters: cuda(12.8, 8_000),
      recommended_disk_space: 40,
      ...NOTEBOOK,
    },
  },
  {
    key: "vllm",
    revision: 1,
    fields: {
      name: "vLLM server",
      image: "vllm/vllm-openai:v0.11.0",
      desc: "Serves a language model on port 8000, with the API that clients of OpenAI speak.",
      readme: README.vllm,
      href: "https://hub.docker.com/r/vllm/vllm-openai",
      env: "-p 8000:8000 -e MODEL=Qwen/Qwen3-4B -e VLLM_ARGS='--max-model-len 8192' -e HF_HOME=/workspace/huggingface",
      onstart:
        'mkdir -p "$HF_HOME"\nexec vllm serve "$MODEL" --host 0.0.0.0 --port 8000 --api-key "${VLLM_API_KEY:-$OPEN_BUTTON_TOKEN}" $VLLM_ARGS',
      extra_filters: { ...cuda(12.8, 16_000), compute_cap: { gte: 700 } },
      recommended_disk_space: 60,
      ...DIRECT_SSH,
    },
  },
  {
    key: "ollama",
    revision: 1,
    fields: {
      name: "Ollama",
      image: "ollama/ollama:0.12.3",
      desc: "Runs quantized language models, to chat with over SSH or from your own computer.",
      readme: README.ollama,
      href: "https://hub.docker.com/r/ollama/ollama",
      env: "-e MODEL=qwen3:8b -e OLLAMA_HOST=127.0.0.1:11434 -e OLLAMA_MODELS=/workspace/ollama",
      onstart:
        'mkdir -p "$OLLAMA_MODELS"\nollama serve &\nuntil ollama list > /dev/null 2>&1; do sleep 1; done\nollama pull "$MODEL"\nwait',
      extra_filters: cuda(12, 8_000),
      recommended_disk_space: 40,
      ...DIRECT_SSH,
    },
  },
  {
    key: "comfyui",
    revision: 1,
    fields: {
      name: "ComfyUI",
      image: "pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime",
      desc: "Makes images from a graph of steps, in your browser through an SSH tunnel.",
      readme: README.comfyui,
      href: "https://github.com/comfyanonymous/ComfyUI",
      env: "-e COMFYUI_VERSION=v0.3.60",
      onstart: [
        "set -e",
        "cd /workspace",
        "if [ ! -d ComfyUI ]; then",
        "  apt-get update && apt-get install -y --no-install-recommends git",
        '  git clone --depth 1 --branch "$COMFYUI_VERSION" https://github.com/comfyanonymous/ComfyUI',
        "  pip install --no-cache-dir -r ComfyUI/requirements.txt",
        "fi",
        "cd ComfyUI",
        "exec python main.py --listen 127.0.0.1 --port 8188",
      ].join("\n"),
      extra_filters: cuda(12.8, 12_000),
      recommended_disk_space: 80,
      ...DIRECT_SSH,
    },
  },
  {
    key: "tensorflow",
    revision: 1,
    fields: {
      name: "TensorFlow 2.19",
      image: "tensorflow/tensorflow:2.19.0-gpu-jupyter",
      desc: "TensorFlow with its CUDA libraries, in a notebook or over SSH.",
      readme: README.tensorflow,
      href: "https://hub.docker.com/r/tensorflow/tensorflow",
      jupyter_dir: "/tf",
      extra_filters: cuda(12.5, 8_000),
      recommended_disk_space: 32,
      ...NOTEBOOK,
      use_jupyter_lab: false,
    },
  },
  {
    key: "cuda",
    revision: 1,
    fields: {
      name: "CUDA 12.8 with compilers",
      image: "nvidia/cuda:12.8.1-devel-ubuntu24.04",
      desc: "The CUDA toolkit with nvcc and its libraries, to build programs for GPUs.",
      readme: README.cuda,
      href: "https://hub.docker.com/r/nvidia/cuda",
      extra_filters: { cuda_max_good: { gte: 12.8 } },
      recommended_disk_space: 32,
      ...DIRECT_SSH,
    },
  },
  {
    key: "busybox",
    revision: 1,
    fields: {
      name: "Shell",
      image: "busybox:1.37",
      desc: "Two megabytes with a shell: starts in seconds, to try a machine or to move files.",
      readme: README.busybox,
      href: "https://hub.docker.com/_/busybox",
      recommended_disk_space: 8,
      ...DIRECT_SSH,
    },
  },
];
