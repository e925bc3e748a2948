import { Type } from "typebox";
import { TemplateRecord, templateFields } from "../schema.ts";

const templates = (description: string) => Type.Array(TemplateRecord, { description });
const LIBRARY = templates("Templates of the account's library, the newest change first");
const RECOMMENDED = templates("Public templates that the operator recommends, the most rented first");
const AUTOSCALER = templates("Templates for worker groups: those of the library, since any template can start workers");

export const UserParams = Type.Object({ user_id: Type.String() });
export const HashParams = Type.Object({ user_id: Type.String(), hash_id: Type.String() });

export const LibraryAnswer = Type.Object({ success: Type.Literal(true), templates: LIBRARY });

const LIST_MAX = 32;

export const StoreBody = Type.Object(
  {
    templates: Type.Array(
      Type.Object(
        {
          id: Type.Optional(
            Type.Union([Type.Integer(), Type.String()], {
              description: "Id of the own template to edit; a new one without",
            }),
          ),
          hash_id: Type.Optional(
            Type.String({ description: "Present hash of the template to edit; an earlier one is refused" }),
          ),
          ...Type.Partial(Type.Object(templateFields)).properties,
        },
        { additionalProperties: true, title: "StoredTemplate" },
      ),
      {
        minItems: 1,
        maxItems: LIST_MAX,
        description: "Templates to create, and with `id` to edit",
        examples: [[{ name: "PyTorch", image: "pytorch/pytorch", tag: "latest", env: "-p 8000:8000" }]],
      },
    ),
    is_an_edit: Type.Optional(Type.Boolean({ description: "True when every template has an `id`", examples: [false] })),
    referral_template_id: Type.Optional(
      Type.Integer({ description: "Id of the template that they were copied from; without effect", examples: [31] }),
    ),
  },
  { additionalProperties: true },
);

export const TemplateIdBody = Type.Object(
  { template_id: Type.Union([Type.Integer(), Type.String()], { description: "Id of the template", examples: [31] }) },
  { additionalProperties: true },
);

export const AddedAnswer = Type.Object({ success: Type.Literal(true) });
export const RemovedAnswer = Type.Object({ success: Type.Literal(true), msg: Type.String() });

export const ChoicesAnswer = Type.Object({
  success: Type.Literal(true),
  templates: LIBRARY,
  referral_templates: templates("The template of the hash"),
  popular: templates("Public templates, the most rented first"),
  recommended: RECOMMENDED,
  autoscaler: AUTOSCALER,
});

export const AutoscalerAnswer = Type.Object({
  success: Type.Literal(true),
  autoscaler: AUTOSCALER,
  recommended: RECOMMENDED,
});

export const RecentQuery = Type.Object({
  page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  last_page_template_id: Type.Optional(Type.Integer()),
  last_page_last_used_at: Type.Optional(Type.Integer()),
});

const place = (description: string, example: number) =>
  Type.Union([Type.Integer(), Type.Null()], { description, examples: [example] });

export const RecentAnswer = Type.Object({
  success: Type.Literal(true),
  templates_found: Type.Integer({ description: "Number of templates on this page", examples: [1] }),
  templates: templates("Templates that the account rented with, the last used first"),
  page_size: Type.Integer({ description: "Most templates of one page", examples: [20] }),
  last_page_template_id: place("Id of the last template of this page; null when it is empty", 31),
  last_page_last_used_at: place(
    "Time of its last use, in seconds since the epoch; null when the page is empty",
    1_767_225_600,
  ),
});
