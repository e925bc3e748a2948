import { TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Answer } from "../../parts/Answer.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { PageHead, Section } from "../../ui/PageHead.tsx";
import { Code, Words } from "./Blocks.tsx";
import { type Field, fetchOperations, findOperations, type Operation } from "./openapi.ts";
import classes from "./help.module.css";

const route = getRouteApi("/frame/help/reference");

/** Every operation of the API, as this server describes it. */
export function Reference() {
  const { operation } = route.useSearch();
  const query = useQuery({
    queryKey: ["openapi"],
    queryFn: ({ signal }) => fetchOperations(signal),
    staleTime: Infinity,
  });
  return (
    <Answer query={query}>
      {(operations) => {
        const shown = operations.find(({ id }) => id === operation);
        return shown === undefined ? <AllOperations operations={operations} /> : <OneOperation operation={shown} />;
      }}
    </Answer>
  );
}

function AllOperations({ operations }: { readonly operations: readonly Operation[] }) {
  const { q = "" } = route.useSearch();
  const navigate = useNavigate();
  const found = findOperations(operations, q);
  const tags = [...new Set(found.map(({ tag }) => tag))].toSorted();
  return (
    <>
      <PageHead title="API reference" note={`${operations.length} operations of this server.`} />
      <TextInput
        className={classes["search"] ?? ""}
        type="search"
        aria-label="Search the operations"
        placeholder="Summary, path or word"
        leftSection={<Icon name="search" />}
        value={q}
        onChange={(event) => {
          const value = event.currentTarget.value;
          void navigate({ to: "/help/reference", search: value === "" ? {} : { q: value }, replace: true });
        }}
      />
      {found.length === 0 && <EmptyState title="No operation has these words">Try fewer words.</EmptyState>}
      {tags.map((tag) => (
        <Section key={tag} title={tag}>
          <ul className={classes["operations"]}>
            {found
              .filter((operation) => operation.tag === tag)
              .map(({ id, summary, method, path }) => (
                <li key={id}>
                  <Link to="/help/reference" search={{ operation: id }}>
                    {summary}
                  </Link>
                  <span className={classes["plain"]}>
                    {method} {path}
                  </span>
                </li>
              ))}
          </ul>
        </Section>
      ))}
    </>
  );
}

function OneOperation({ operation }: { readonly operation: Operation }) {
  const { summary, method, path, words, parameters, body, bodyExample, answer, answerExample } = operation;
  return (
    <>
      <PageHead title={summary} note={<Link to="/help/reference">All operations</Link>} />
      <article className={classes["article"]}>
        <Code text={`${method} ${path}`} what="the path" />
        <p>
          <Words text={words} />
        </p>
        <Fields title="Parameters" fields={parameters} />
        <Fields title="Request" fields={body} />
        <Example title="Example of a request" value={bodyExample} />
        <Fields title="Answer" fields={answer} />
        <Example title="Example of an answer" value={answerExample} />
      </article>
    </>
  );
}

function Fields({ title, fields }: { readonly title: string; readonly fields: readonly Field[] }) {
  if (fields.length === 0) return null;
  return (
    <>
      <h2>{title}</h2>
      <div className={classes["table"]} role="region" aria-label={title} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Type</th>
              <th scope="col">Meaning</th>
            </tr>
          </thead>
          <tbody>
            {fields.map(({ name, type, isRequired, words }) => (
              <tr key={name}>
                <th scope="row">
                  <code>{name}</code>
                </th>
                <td>{isRequired ? `${type}, always there` : type}</td>
                <td>
                  <Words text={words} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function Example({ title, value }: { readonly title: string; readonly value: unknown }) {
  if (value === undefined) return null;
  return (
    <>
      <h2>{title}</h2>
      <Code text={JSON.stringify(value, null, 2)} what="the example" />
    </>
  );
}
