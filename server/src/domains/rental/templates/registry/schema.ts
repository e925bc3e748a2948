import { Type } from "typebox";
import { IMAGE_LENGTH_MAX } from "../rules/image-reference.ts";

const text = (description: string, example: string, maxLength: number) =>
  Type.Optional(Type.String({ maxLength, description, examples: [example] }));

const server = text(
  "Host of the registry, such as `ghcr.io`; that of the image, or Docker Hub, without it",
  "ghcr.io",
  512,
);
const username = text("User name at the registry", "renter", 256);
const token = text("Password or token at the registry; it is neither stored nor logged", "ghp_example", 4096);

export const TagsBody = Type.Object(
  {
    image: text("Image, `[registry/]repository`; a tag in it is ignored", "ghcr.io/owner/app", IMAGE_LENGTH_MAX),
    server,
    username,
    token,
  },
  { additionalProperties: true },
);

export const TagsQuery = Type.Object({
  image: Type.Optional(Type.String({ maxLength: IMAGE_LENGTH_MAX })),
  server: Type.Optional(Type.String({ maxLength: 512 })),
});

export const TagsAnswer = Type.Object({
  success: Type.Boolean({ description: "False when the registry has no tags of the image", examples: [true] }),
  tags: Type.Array(Type.String(), {
    description: "Tags in the order of the registry, 10,000 at most",
    examples: [["latest", "v2"]],
  }),
  error: Type.Optional(Type.String({ description: "The reason when `success` is false", examples: ["no_tags"] })),
  msg: Type.Optional(Type.String({ description: "The reason in a sentence when `success` is false", examples: [""] })),
});

export const LoginBody = Type.Object({ server, username, token }, { additionalProperties: true });

export const LoginAnswer = Type.Object({
  success: Type.Literal(true),
  authenticated: Type.Boolean({
    description: "True when the registry checked the login; false when it asks for none",
    examples: [true],
  }),
  repositories: Type.Array(Type.String(), {
    description:
      "Repositories as `namespace/name`, 1,000 at most; empty at registries that do not list them, such as Docker Hub",
    examples: [["owner/app"]],
  }),
});
