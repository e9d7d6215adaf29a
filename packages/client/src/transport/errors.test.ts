import { describe, expect, it } from "vitest";
import { errorMessage } from "../meta/index.ts";
import {
  AlreadyExistsError,
  ApiError,
  apiErrorFrom,
  ConflictError,
  ConnectionError,
  ForbiddenError,
  GoneError,
  InvalidError,
  NotFoundError,
  TooManyRequestsError,
  UnauthorizedError,
} from "./errors.ts";

const request = { method: "GET", path: "/api/v1/pods" };

describe("apiErrorFrom", () => {
  it.each([
    [401, "Unauthorized", UnauthorizedError, "LOTSE_UNAUTHORIZED"],
    [403, "Forbidden", ForbiddenError, "LOTSE_FORBIDDEN"],
    [404, "NotFound", NotFoundError, "LOTSE_NOT_FOUND"],
    [409, "Conflict", ConflictError, "LOTSE_CONFLICT"],
    [409, "AlreadyExists", AlreadyExistsError, "LOTSE_ALREADY_EXISTS"],
    [410, "Expired", GoneError, "LOTSE_GONE"],
    [410, "", GoneError, "LOTSE_GONE"],
    [422, "Invalid", InvalidError, "LOTSE_INVALID"],
    [429, "TooManyRequests", TooManyRequestsError, "LOTSE_TOO_MANY_REQUESTS"],
    [500, "InternalError", ApiError, "LOTSE_API"],
  ])("makes of %i %s the class and the code for it", (status, reason, Type, code) => {
    const error = apiErrorFrom(status, { reason, message: "said" }, request);
    expect(error.constructor).toBe(Type);
    expect(error).toMatchObject({ code, status, message: "said", request });
  });

  it("keeps the causes of an invalid object and the time that the server asks for", () => {
    const causes = [{ field: "spec.replicas", reason: "FieldValueInvalid", message: "must be positive" }];
    const error = apiErrorFrom(422, { details: { causes, retryAfterSeconds: 2 } }, request);
    expect(error.details.causes).toEqual(causes);
    expect(error.retryAfterMs).toBe(2_000);
  });

  it.each([undefined, "", null, 7, { details: null }])("survives an answer of %j", (body) => {
    expect(apiErrorFrom(502, body, request).message).toContain("the server answered 502");
  });
});

describe("a connection that failed", () => {
  it("is told in words, without the codes behind them", () => {
    const cause = new Error("connect ECONNREFUSED 127.0.0.1:1");
    const message = "cannot reach https://127.0.0.1:1: connection refused";
    expect(errorMessage(new ConnectionError(message, { cause, request, sent: false }))).toBe(message);
  });
});
