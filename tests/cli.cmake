# The program's machine forms, on the model of the repository: what scripts rely on. Arguments: -DPROGRAM=<inlay>
# -DWORK=<folder>
cmake_minimum_required(VERSION 3.25)

# expect(code regex input arguments...): the exit code and what is on stdout.
function(expect code pattern input)
  file(WRITE ${WORK}/input "${input}")
  execute_process(COMMAND ${PROGRAM} ${ARGN} INPUT_FILE ${WORK}/input
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT result EQUAL code OR NOT output MATCHES "${pattern}")
    message(SEND_ERROR "inlay ${ARGN}\nwith ${input}\nexit code ${result}, expected ${code}\n${output}\nexpected "
      "${pattern}\n${errors}")
  endif()
endfunction()

file(MAKE_DIRECTORY ${WORK})
expect(0 "^{\"ids\":.3995,2064,2509.}\n$" "{\"text\":\"Hello world\",\"add_special\":true}\n" tokenize --jsonl)
expect(0 "^{\"ids\":.2064.}\n{\"error\":{\"kind\":\"missing_key\".*}}\n{\"error\".*}\n{\"ids\":.2509.}\n$"
  "{\"text_hex\":\"48656c6c6f\"}\n{}\n[1]\n{\"text\":\" world\"}\n" tokenize --jsonl)
expect(0 "^{\"text\":\"Hello world\"}\n{\"chunks\":.\"Hello\",\" world\".,\"flush\":\"\"}\n{\"bytes_hex\":\"20776f726c64\"}\n$"
  "{\"ids\":[2064,2509]}\n{\"ids\":[2064,2509],\"stream\":true}\n{\"ids\":[2509],\"piece\":true}\n" detokenize --jsonl)
expect(0 "^{\"rows\":2,\"cols\":4000}\n{\"rows\":1,\"cols\":4000}\n$"
  "{\"tokens\":[3995,2064],\"positions\":\"all\"}\n{\"tokens\":[3995,2064,2509],\"positions\":[2],\"chunks\":[1,1]}\n"
  logits --jsonl -o ${WORK}/logits)
file(SIZE ${WORK}/logits bytes)
if(NOT bytes EQUAL 48000)
  message(SEND_ERROR "3 rows of 4000 logits take 48000 bytes, not ${bytes}")
endif()
set(t5 ${CMAKE_CURRENT_LIST_DIR}/data/arch/t5_written.gguf)
expect(0 "^{\"rows\":1,\"cols\":64}\n{\"error\":.*}\n$"
  "{\"encoder_tokens\":[9,8,7],\"decoder_tokens\":[0,5],\"positions\":[1],\"chunks\":[1]}\n{\"tokens\":[0]}\n"
  logits -m ${t5} --jsonl -o ${WORK}/logits)
expect(0 "^{\"tokens\":.([0-9]+,)+[0-9]+.}\n$" "" inspect ${t5} --load --json)
expect(0 "^{\"tokens\":.[0-9]+,[0-9]+.,.*\"prompt_tokens\":3,.*}\n$"
  "{\"tokens\":[9,8,7],\"max_tokens\":2,\"temperature\":0,\"ignore_eos\":true}\n" run -m ${t5} --jsonl)
expect(0 "^{\"tokens\":.[0-9,]+.,\"text\":\".*\",\"logprobs\":.*,\"finish\":\"token_limit\",\"stats\":{\"prompt_tokens\":5,.*}}\n$"
  "{\"prompt\":\"Once upon a time\",\"max_tokens\":4,\"temperature\":0}\n" run --jsonl)
expect(0 "\"stats\":{.*\"drafted_tokens\":0,\"accepted_tokens\":0,"
  "{\"prompt\":\"one two one two one two\",\"max_tokens\":8,\"temperature\":0}\n" run --no-speculate --jsonl)
expect(0 "^{\"steps\":.{\"name\":\"model\",\"candidates\":.{\"id\":[0-9]+,\"p\":[0-9.]+}.},{\"name\":\"top_k\",.*\"name\":\"temperature\",.*}.}\n{\"error\":"
  "{\"prompt\":\"Once upon a\",\"top\":1}\n{}\n" sample --jsonl)
expect(0 "^.*temperature 0[.]8.*\nmodel\n +[01][.][0-9]+ +[0-9]+  \".*temperature\n" "" sample --top 2 "Once upon a")
expect(0 "^{\"content\":\"125\",.*\"finish\":\"end_of_text\""
  "{\"messages\":[{\"role\":\"user\",\"content\":\"What is 58 + 67?\"}],\"temperature\":0}\n" chat --jsonl)
expect(0 "^{\"text\":\"<user>hi\",\"spans\":.{\"begin\":0,\"end\":6,\"kind\":\"template\"},{\"begin\":6,\"end\":8,\"kind\":\"user\"}.}\n$"
  "{\"template\":\"<{{ messages[0].role }}>{{ messages[0].content }}\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}\n"
  render --jsonl)
expect(0 "^{\"accept\":.true,false,false.,\"prefix_ok\":.true,true,false.}\n{\"accept\":.true.,.*}\n{\"error\":.*}\n{\"error\":.*}\n$"
  "{\"schema\":{\"type\":\"boolean\"},\"texts\":[\"true\",\"fal\",\"1\"]}\n{\"regex\":\"a+\",\"texts\":[\"aa\"]}\n{\"gbnf\":\"root ::= root\"}\n{}\n"
  grammar --jsonl)
expect(0 "^accept\taa\nprefix\t\nreject\tb\n$" "aa\n\nb\n" grammar --regex a+)
expect(0 "\"general.architecture\":\"llama\".*\"tensors\":.*\"plan\":{\"weights\":" "" inspect --json)
expect(0 "^{\"tokens\":.([0-9]+,)+[0-9]+.}\n$" "" inspect --load --json)
expect(0 "\"chat_template_remarks\":..}\n$" "" inspect --json)
expect(0 "\"tool_calls\":.{\"name\":\"play_song\",\"arguments\":{\"title\":\"read\"}}."
  "{\"messages\":[{\"role\":\"user\",\"content\":\"Play the song read.\"}],\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"play_song\",\"description\":\"Play a song\",\"parameters\":{\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\"}},\"required\":[\"title\"]}}}],\"temperature\":0}\n"
  chat --jsonl)
expect(0 "^{\"unused\":..}\n$" "" inspect --unused --json)
expect(0 "^$" "" convert ${CMAKE_CURRENT_LIST_DIR}/data/conversion/qwen3 -o ${WORK}/qwen3.gguf --type q8_0)
expect(0 "^{\"tokens\":.([0-9]+,)+[0-9]+.}\n$" "" inspect ${WORK}/qwen3.gguf --load --json)
set(judge -m ${CMAKE_CURRENT_LIST_DIR}/data/rank/bert.gguf)
expect(0 "^{\"scores\":.[-0-9.]+,[-0-9.]+.,\"ranking\":.[01],[01].}\n$" "" rerank ${judge} --json SOME ANSWER OTHER)
expect(0 "^{\"scores\":.[-0-9.]+.,\"ranking\":.0.}\n{\"error\":{\"kind\":\"missing_key\".*}}\n$"
  "{\"query\":\"SOME\",\"documents\":[\"ANSWER\"]}\n{\"query\":\"SOME\"}\n" rerank ${judge} --jsonl)
expect(0 "^[-0-9.]+\t[AO][A-Z]+\n[-0-9.]+\t[AO][A-Z]+\n$" "ANSWER\nOTHER\n" rerank ${judge} SOME)
expect(2 "^$" "" rerank SOME ANSWER)
set(embeds -m ${CMAKE_CURRENT_LIST_DIR}/data/embed/qwen3_embedding.gguf)
expect(0 "^{\"embedding\":.[-0-9.e,]+.}\n$" "" embed ${embeds} SOME)
expect(0 "^{\"embedding\":.[-0-9.e,]+.}\n{\"error\":{.*llama.pooling_type.*}}\n$"
  "{\"text\":\"Once\",\"pooling\":\"mean\"}\n{\"text\":\"Once\"}\n" embed --jsonl)
expect(2 "^$" "" convert no-such-folder -o ${WORK}/none.gguf)
expect(2 "^{\"error\":{\"kind\":\"io\",\"message\":\".*no-such-file.*\"}}\n$" "" inspect no-such-file --json)
expect(2 "^$" "" run --no-such-flag)
expect(2 "^$" "" run --kv no-such-type Hello)
