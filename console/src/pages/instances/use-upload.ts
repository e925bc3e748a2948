import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, ConnectionError } from "../../../../sdk/src/index.ts";
import { MARK } from "../../api/client.ts";

type Sent = { readonly bytes: number; readonly all: number };

/** The address of a file's content, for downloads and uploads. */
export function contentPath(id: number, path: string): string {
  return `/api/v0/instances/${id}/files/content/?path=${encodeURIComponent(path)}`;
}

/** Uploads one file at a time, and says how far it is; fetch tells nothing about that, so it is an XMLHttpRequest. */
export function useUpload(id: number) {
  const queries = useQueryClient();
  const [sent, setSent] = useState<Sent | undefined>();
  const [error, setError] = useState<Error | undefined>();
  const start = (path: string, file: File) => {
    setError(undefined);
    setSent({ bytes: 0, all: file.size });
    const request = new XMLHttpRequest();
    request.open("PUT", contentPath(id, path));
    request.setRequestHeader(MARK, "1");
    request.setRequestHeader("content-type", "application/octet-stream");
    request.upload.addEventListener("progress", ({ loaded, total }) => setSent({ bytes: loaded, all: total }));
    request.addEventListener("loadend", () => {
      setSent(undefined);
      setError(failureOf(request));
      void queries.invalidateQueries({ queryKey: ["instance"] });
    });
    request.send(file);
  };
  return { start, sent, error };
}

function failureOf(request: XMLHttpRequest): Error | undefined {
  const { status } = request;
  if (status === 0) return new ConnectionError("The upload broke off.");
  if (status < 400) return undefined;
  return new ApiError(status, bodyOf(request.responseText), request.getResponseHeader("x-request-id") ?? undefined);
}

function bodyOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" && body !== null ? { ...body } : {};
  } catch {
    return {};
  }
}
