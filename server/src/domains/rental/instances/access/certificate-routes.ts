import { Type, type Static } from "typebox";
import type { HttpScope } from "../../../../http/server.ts";
import { rootCertificate, signRequest, type CertificatePorts } from "./certificate-service.ts";

const REQUEST_BYTES_MAX = 16_384;
const SignQuery = Type.Object({ instance_id: Type.Integer() });

/**
 * Certificates for what instances serve over HTTPS (docs/contract-rules.md#certificates), at the paths that images
 * call. Requests and answers are PEM instead of JSON, so the SDK has no operations for them.
 */
export function certificateRoutes({ app, database, clock }: HttpScope, ports: CertificatePorts): void {
  const surroundings = { ...ports, database, clock };
  app.get(
    "/static/jvastai_root.cer",
    { config: { access: { operation: "api.certificate.root", permission: "public" } }, schema: { hide: true } },
    async (_request, reply) => reply.type("application/x-x509-ca-cert").send(await rootCertificate(surroundings)),
  );
  // A scope of its own, because the body is a text under any content type.
  void app.register(async (scope) => {
    scope.removeContentTypeParser("*");
    scope.addContentTypeParser("*", { parseAs: "string", bodyLimit: REQUEST_BYTES_MAX }, (_request, body, done) =>
      done(null, body),
    );
    scope.post(
      "/api/v0/sign_cert/",
      {
        config: { access: { operation: "api.certificate.sign", permission: "public", limit: "keys" } },
        schema: { hide: true, querystring: SignQuery },
      },
      async (request, reply) => {
        const { instance_id: instanceId } = request.query as Static<typeof SignQuery>;
        const pem = typeof request.body === "string" ? request.body : "";
        const certificate = await signRequest(surroundings, { instanceId, pem, sourceAddress: request.ip });
        return reply.type("application/x-pem-file").send(certificate);
      },
    );
  });
}
