import { Type } from "typebox";
import { model } from "../../../../http/model.ts";

const Columns = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
  maxItems: 64,
  description: "Names of the columns that the table of the market shows, in their order; empty for the usual ones",
  examples: [["gpu_name", "dph_total", "reliability"]],
});

export const SaveSearchBody = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 100, description: "Name for people", examples: ["cheap 4090s"] }),
  query: Type.String({
    maxLength: 4096,
    description: "Search in the query language, as the market's text filter has it",
    examples: ["gpu_name=RTX_4090 num_gpus>=2"],
  }),
  columns: Type.Optional(Columns),
});

export const SavedSearchPath = Type.Object({
  id: Type.String(),
});

const SavedSearch = model("SavedSearch", {
  id: Type.Integer({ description: "Id of the saved search", examples: [3] }),
  name: Type.String({ description: "Name for people", examples: ["cheap 4090s"] }),
  query: Type.String({
    description: "Search in the query language, as the market's text filter has it",
    examples: ["gpu_name=RTX_4090 num_gpus>=2"],
  }),
  columns: Columns,
  created_at: Type.Number(),
  updated_at: Type.Number(),
});

export const SavedSearches = Type.Object({
  success: Type.Literal(true),
  saved_searches: Type.Array(SavedSearch, { description: "Saved searches of the caller by name" }),
});

export const SaveSearchAnswer = Type.Object({
  success: Type.Literal(true),
  saved_search: SavedSearch,
});
export const DeleteSearchAnswer = Type.Object({ success: Type.Literal(true) });
