"""
W&B's in-memory trace server class behind routes of ours. The class, its models and its adapter of ids come from the `weave`
package (0.53.12 is the last that has them); W&B's service itself is closed, and another program.

    weave_server.py PORT
"""

import base64
import sys
import typing

from parts import use_parts

# What the class's modules import at their top and nothing here calls.
use_parts(
    packages={"weave": {}},
    absent=(
        *("azure", "boto3", "botocore", "clickhouse_connect", "confluent_kafka", "ddtrace", "emoji", "gql", "litellm", "openai", "redis", "tenacity"),
        *("google.api_core", "google.auth", "google.cloud", "google.oauth2", "weave.trace_server.model_providers"),
    ),
)

import uvicorn
from fastapi import FastAPI, Form, HTTPException, Request, UploadFile
from fastapi.responses import JSONResponse, StreamingResponse
from weave.trace_server import trace_server_interface as models
from weave.trace_server.external_to_internal_trace_server_adapter import ExternalTraceServer, IdConverter
from weave.trace_server.in_memory_trace_server import InMemoryTraceServer

LOGIN = "Basic " + base64.b64encode(b"api:" + b"0123456789" * 4).decode()
PATHS = {
    "/call/start": "call_start",
    "/call/end": "call_end",
    "/call/upsert_batch": "call_start_batch",
    "/call/update": "call_update",
    "/call/read": "call_read",
    "/calls/query_stats": "calls_query_stats",
    "/calls/usage": "calls_usage",
    "/v2/{entity}/{project}/calls/complete": "calls_complete",
    "/obj/create": "obj_create",
    "/obj/read": "obj_read",
    "/objs/query": "objs_query",
    "/table/create": "table_create",
    "/refs/read_batch": "refs_read_batch",
    "/feedback/query": "feedback_query",
}


class Ids(IdConverter):
    """What is stored has other ids of projects than what is sent; other ids are the same."""

    def ext_to_int_project_id(self, project_id):
        return base64.urlsafe_b64encode(project_id.encode()).decode()

    def int_to_ext_project_id(self, project_id):
        try:
            return base64.urlsafe_b64decode(project_id).decode()
        except ValueError:
            return None

    def ext_to_int_run_id(self, run_id):
        return run_id

    int_to_ext_run_id = ext_to_int_user_id = int_to_ext_user_id = ext_to_int_run_id


server = ExternalTraceServer(InMemoryTraceServer(), Ids())
app = FastAPI()


@app.middleware("http")
async def login(request: Request, call_next):
    if request.url.path not in ("/health", "/graphql") and request.headers.get("authorization") != LOGIN:
        return JSONResponse({"reason": "invalid API key"}, 401)
    return await call_next(request)


def serve(path, name):
    method = getattr(server, name)

    def handle(req: typing.get_type_hints(method)["req"]):
        try:
            return method(req)
        except (ValueError, KeyError) as error:
            raise HTTPException(400, str(error)) from error

    app.post(path)(handle)


for path, name in PATHS.items():
    serve(path, name)


@app.post("/calls/stream_query")
def stream_query(req: models.CallsQueryReq):
    return StreamingResponse((call.model_dump_json() + "\n" for call in server.calls_query_stream(req)), media_type="application/jsonl")


@app.post("/file/create")
@app.post("/files/create")
async def file_create(project_id: typing.Annotated[str, Form()], file: UploadFile):
    return server.file_create(models.FileCreateReq(project_id=project_id, name=file.filename, content=await file.read()))


@app.get("/health")
@app.get("/server_info")
def health():
    return {"status": "ok", "min_required_weave_python_version": "0.0.1"}


@app.post("/graphql")
async def graphql(request: Request):
    """W&B's other service, which knows users and projects: everyone is `trainer`, every project is there."""
    name = ((await request.json()).get("variables") or {}).get("name")
    viewer = {"username": "trainer", "defaultEntity": {"name": "team"}}
    return {"data": {"viewer": viewer, "project": {"name": name}, "upsertModel": {"model": {"name": name, "description": None}}}}


uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]))
