import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createMessageTable } from "../registry/index.ts";
import { ProtobufAnswers } from "./answers.ts";
import { decodeKubernetesProtobuf } from "./decode.ts";

const table = createMessageTable();
const answers = new ProtobufAnswers(table);

/** Objects that the libraries of Kubernetes wrote in both forms. */
const golden = JSON.parse(readFileSync(new URL("./golden.json", import.meta.url), "utf8")) as {
  protobuf: string;
  json: { apiVersion: string; kind: string };
}[];

describe("objects in protobuf", () => {
  it.each(golden)("are the bytes that the libraries of Kubernetes write: $json.kind", ({ protobuf, json }) => {
    expect(Buffer.from(answers.object(json)).toString("base64")).toBe(protobuf);
  });

  it("keep numbers below zero, times and bytes", () => {
    const event = {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "e" },
      involvedObject: {},
      source: {},
      eventTime: "1969-12-31T23:59:59.250000Z",
      count: -7,
    };
    const { object } = decodeKubernetesProtobuf(answers.object(event), table);
    expect(object).toMatchObject({ eventTime: event.eventTime, count: -7 });
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, data: { k: "AP//gA==" } };
    expect(decodeKubernetesProtobuf(answers.object(secret), table).object).toMatchObject(secret);
  });
});
