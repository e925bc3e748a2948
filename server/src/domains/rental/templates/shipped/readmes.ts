/** Readmes of the templates that come with the server, as Markdown. */
export const README = {
  ubuntu: `# Ubuntu 24.04 with SSH

An empty Ubuntu. You log in as root and install what you need.

## Start

1. Rent with this template.
2. Copy the SSH command from the page of the instance and run it on your computer.
3. Install what you need: \`apt-get update && apt-get install -y python3-venv git\`.

The driver of the GPU is there already: \`nvidia-smi\` shows it. CUDA libraries are not in the image. Take the template
"CUDA 12.8 with compilers" when you want to build programs for GPUs.

## What is kept

Files on the disk stay while the instance is stopped, and are deleted when it is destroyed. Put what must outlive it on a
volume.
`,
  pytorch: `# PyTorch 2.8

Python with PyTorch 2.8, CUDA 12.8 and cuDNN 9, to use over SSH.

## Start

\`\`\`sh
python -c "import torch; print(torch.cuda.get_device_name())"
\`\`\`

prints the name of the GPU when all is well. Install more with \`pip install\`, and keep your code and data in
\`/workspace\`. Models of Hugging Face are kept in \`/workspace/huggingface\` (\`HF_HOME\`).

## Needs

A driver for CUDA 12.8 and 8 GB of GPU memory; the filters of this template see to that. 40 GB of disk hold the image and a
model of 7 billion parameters.

## For long runs

Start training inside \`tmux\` (\`apt-get update && apt-get install -y tmux\`), so that it goes on when the connection ends. Save
checkpoints often if you bid for an interruptible instance.
`,
  jupyter: `# JupyterLab with PyTorch

JupyterLab in your browser, with PyTorch 2.8, CUDA 12.8 and cuDNN 9.

## Start

JupyterLab is installed at the first start, which takes a minute. Then open "Jupyter" on the page of the instance. The link
carries the token, so keep it to yourself. The browser asks once about the certificate; the help page about SSH and Jupyter
says how to make it trusted.

In a notebook,

\`\`\`python
import torch
torch.cuda.is_available()
\`\`\`

answers \`True\` when the GPU can be used.

## What is kept

Notebooks in \`/workspace\` stay while the instance is stopped, and are deleted with it. Download them, or mount a volume
there.
`,
  vllm: `# vLLM server

Serves one language model with vLLM on port 8000. Programs that talk to OpenAI's API talk to it with another address and key.

## Choose the model

| Variable | Meaning | Here |
| --- | --- | --- |
| \`MODEL\` | the model, as Hugging Face names it | \`Qwen/Qwen3-4B\` |
| \`VLLM_ARGS\` | more options of \`vllm serve\` | \`--max-model-len 8192\` |
| \`VLLM_API_KEY\` | the key that clients send | the token of the instance |
| \`HF_TOKEN\` | your token of Hugging Face, for models that ask for one | none |

Change them under "Environment" when you rent. Put \`HF_TOKEN\` into your secrets rather than into a template. With two GPUs add
\`--tensor-parallel-size 2\` to \`VLLM_ARGS\`.

## Start

The model is downloaded at the first start, which takes minutes; the logs show how far it is. Then, with the address and
port from the page of the instance:

\`\`\`sh
curl http://ADDRESS:PORT/v1/models -H "Authorization: Bearer KEY"
\`\`\`

\`echo $OPEN_BUTTON_TOKEN\` inside the instance shows the key if you did not set one. The connection is not encrypted: for
more than trials, forward the port over SSH (\`ssh -L 8000:127.0.0.1:8000 …\`).

## Needs

16 GB of GPU memory for this model. As a rule of thumb: 2 GB for each billion parameters, and a few GB besides.
`,
  ollama: `# Ollama

Runs language models that were made smaller, so that they fit on one GPU.

## Start

The model in \`MODEL\` is downloaded at the first start; the logs show how far it is. Then, over SSH,

\`\`\`sh
ollama run qwen3:8b
\`\`\`

begins a chat. \`ollama pull NAME\` gets another model.

## From your computer

Ollama asks for no password, so it listens inside the instance only. Forward its port:

\`\`\`sh
ssh -L 11434:127.0.0.1:11434 …
\`\`\`

and programs on your computer find it at \`http://127.0.0.1:11434\`.

## Needs

About 1 GB of GPU memory for each billion parameters: 8 GB for the model that is set here.
`,
  comfyui: `# ComfyUI

Makes images and videos from a graph of steps. This template installs ComfyUI at the first start, which takes some minutes;
the logs say when it listens.

## Open it

ComfyUI asks for no password, so it listens inside the instance only. Forward its port with the SSH command of the instance:

\`\`\`sh
ssh -L 8188:127.0.0.1:8188 …
\`\`\`

and open \`http://127.0.0.1:8188\` in your browser.

## Models

Put checkpoints into \`/workspace/ComfyUI/models/checkpoints\`, for instance with \`curl -L -o NAME URL\`. Made images are in
\`/workspace/ComfyUI/output\`. To keep both when the instance is destroyed, mount a volume at these folders.

## Needs

A driver for CUDA 12.8 and 12 GB of GPU memory; large models need 24 GB. Models are large: take more than 80 GB of disk for
several of them.

## Another version

\`COMFYUI_VERSION\` names the tag that is installed. Custom nodes run with all rights inside the instance, so install only those
that you trust.
`,
  tensorflow: `# TensorFlow 2.19

TensorFlow with its CUDA libraries and a notebook server.

## Start

Open "Jupyter" on the page of the instance, or log in over SSH. In either,

\`\`\`python
import tensorflow as tf
tf.config.list_physical_devices("GPU")
\`\`\`

lists the GPUs. Examples are in \`/tf/tensorflow-tutorials\`.

## Needs

A driver for CUDA 12.5 or newer and 8 GB of GPU memory. TensorFlow takes all memory of a GPU at once unless you call
\`tf.config.experimental.set_memory_growth\`.
`,
  cuda: `# CUDA 12.8 with compilers

Ubuntu 24.04 with the CUDA toolkit: \`nvcc\`, headers and libraries, to build programs for GPUs.

## Start

\`\`\`sh
nvcc --version
nvidia-smi
\`\`\`

The first shows the compiler, the second the GPU and its driver. Python is not in the image:
\`apt-get update && apt-get install -y python3-venv\`.

## Needs

A driver for CUDA 12.8. The image unpacks to about 9 GB.
`,
  busybox: `# Shell

The smallest template: a shell and the usual small commands. It starts in seconds, since there is nearly nothing to pull.

Use it to try a machine before a long rental, to look at a volume, or to move files. There is no package manager, and programs of
the driver such as \`nvidia-smi\` do not run in it; take the Ubuntu template for those.
`,
} as const;
