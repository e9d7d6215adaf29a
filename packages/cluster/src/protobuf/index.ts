export { ProtobufAnswers } from "./answers.ts";
export { decodeKubernetesProtobuf, ProtobufError } from "./decode.ts";
export { encodeSwagger } from "./openapi-v2.ts";
export { encodeOpenApi } from "./openapi-v3.ts";
