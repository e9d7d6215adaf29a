export { ADMIN, createAuthenticator, SYSTEM, type TokenTable } from "./authenticate.ts";
export { createReviews } from "./reviews.ts";
