import { extractText, getDocumentProxy } from "unpdf";

/** The words of each page of a PDF, as a reader would copy them. */
export async function readPdf(bytes: Uint8Array): Promise<readonly string[]> {
  const pdf = await getDocumentProxy(new Uint8Array(bytes));
  const { text } = await extractText(pdf, { mergePages: false });
  return text;
}
